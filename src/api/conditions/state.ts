/** The conditions that say how a cluster is. Pure data; see catalogue.ts. */
import { OBSTACLES } from '../obstacles/catalogue.ts';
import { UPGRADE_OBSTACLES } from '../obstacles/upgrades.ts';
import { WAIT } from '../obstacles/rows.ts';
import { OPERATION_CONDITIONS, PROGRESS_REASONS } from '../operations.ts';
import type { ConditionTable } from './table.ts';

/** Why members are away, or not there yet, while the operator changes them. */
const MEMBERS_CHANGING = [
  'The operator stops, starts or adds the members that the message names, as planned; nothing has failed.',
  WAIT,
] as const;

const ACCESS_DENIED = [
  'Authentication is enabled in etcd, and the operator is not a user of it with the role root. Clients with a user are served.',
  'Disable it as root (etcdctl auth disable), or move to a cluster with TLS, where the certificate of the operator names its user; the message says which.',
] as const;

export const STATE_CONDITIONS = {
  /** Can clients read and write? */
  Available: {
    True: {
      LinearizableRead: [
        'A linearizable read was answered in the last pass, and the client Service selects a ready pod.',
      ],
    },
    False: {
      Creating: ['The cluster is being created and does not answer yet.', WAIT],
      NotCreated: [
        'Nothing was created: the specification is invalid.',
        'Read the other conditions, which name the field to change.',
      ],
      NoQuorum: [
        'Members answer, but too few of them to elect a leader.',
        'Bring back nodes and volumes. Delete nothing: the data on the volumes decides whether the cluster can be recovered.',
      ],
      AllVolumesLost: OBSTACLES.AllVolumesLost,
      FormerCluster: OBSTACLES.FormerCluster,
      TakeUpRefused: OBSTACLES.TakeUpRefused,
      MembersChanging: MEMBERS_CHANGING,
      NoMembers: [
        'No member is running, according to Kubernetes.',
        'Read the events of the pods, which name image, volume or scheduling problems.',
      ],
      ReadFailed: [
        'Members answer, but a linearizable read failed.',
        'Read the message; check for alarms and slow disks.',
      ],
      NoReadyMember: [
        'Members answer the operator, but no pod is ready, so the client Service has no endpoint.',
        'Read the events of the pods, which contain the result of the readiness probe.',
      ],
      NoEndpoint: [
        'Pods are ready, but the client Service selects none of them: clients are withdrawn from the members that are about to stop or have just been changed, or somebody edited the Service or the labels of the pods. This is judged by the Service and the pods, from which Kubernetes makes the endpoints a moment later.',
        'Read the message. The operator leads clients to a member again as soon as it serves, also while the cluster is paused. It puts the Service back unless the cluster is paused: end the pause, or put it back yourself.',
      ],
      Restoring: ['The cluster is fenced while a backup is restored.', WAIT],
      Hibernated: [
        'The cluster is hibernated as requested; its data is kept.',
        'Set spec.hibernated to false to resume it.',
      ],
      Deleting: ['The cluster is being deleted.', WAIT],
    },
    Unknown: {
      NotLookedAt: [
        'No pass has succeeded for a minute, so it is not known whether clients can read and write.',
        'See the condition PassFailing.',
      ],
      Unreachable: [
        'No member could be reached. That does not mean that etcd is down.',
        'Check the network between the operator and the pods; nothing is changed until then.',
      ],
      AccessDenied: ACCESS_DENIED,
      OtherOperator: OBSTACLES.OtherOperator,
    },
  },
  /** Is the quorum lost, or would one more failure lose it? Said only while that is so, or not known. */
  QuorumAtRisk: {
    True: {
      MembersChanging: MEMBERS_CHANGING,
      NoMarginLeft: [
        'Members are unavailable, or were added by hand and are not known to be healthy, and one more failure would stop the cluster.',
        'Stop nothing else; bring back the members that the message names, or remove those that were added by hand.',
      ],
      QuorumLost: [
        'Too few members are available for a quorum; the operator starts members again where their volumes exist.',
        'Bring back nodes and volumes: the message says what is known about each. Delete nothing: the data on the volumes decides whether the cluster can be recovered.',
      ],
      AllVolumesLost: OBSTACLES.AllVolumesLost,
    },
    Unknown: {
      MembersUnreachable: [
        'No member could be reached, so it is not known whether there is a quorum.',
        'Check the network between the operator and the pods; nothing is changed until then.',
      ],
      AccessDenied: ACCESS_DENIED,
    },
  },
  /** Is every member well? */
  Healthy: {
    True: { AllMembersHealthy: ['Every member answers, agrees on the leader and raises no alarm.'] },
    False: {
      Creating: ['Not every member has started yet.', WAIT],
      MembersChanging: MEMBERS_CHANGING,
      MembersUnhealthy: [
        'A member answers and reports a fault, or its pod is not running.',
        'Read the message, which names the members.',
      ],
      MembersMissing: ['The cluster has fewer members than its specification requests.', WAIT],
      AlarmRaised: [
        'etcd raised NOSPACE or CORRUPT.',
        'NOSPACE: the operator disarms it when every member has room. Where it needs a decision, Progressing says which (docs/operations/no-space.md). CORRUPT: delete nothing; DataCorrupt says which member differs (docs/operations/corruption.md).',
      ],
      Hibernated: ['The cluster is hibernated as requested.', 'Set spec.hibernated to false to resume it.'],
      NotCreated: ['Nothing was created.', 'Read the other conditions.'],
      Deleting: ['The cluster is being deleted.', WAIT],
    },
    Unknown: {
      MembersUnreachable: [
        'A member could not be reached; it is not known whether it is healthy.',
        'Check node and network of the members that the message names.',
      ],
      AccessDenied: ACCESS_DENIED,
    },
  },
  /** Do members hold different data? There only while something speaks for it. */
  DataCorrupt: {
    True: {
      MemberDiffers: [
        'A member does not hold the data that a majority holds. No client is led to it.',
        'Approve its replacement, unless spec.repair.corruption is Replace: docs/operations/corruption.md. Delete nothing.',
      ],
      NoMajority: [
        'Members hold different data, and no majority holds the same.',
        'Delete nothing. Find out which data is right, and request the replacement of the other members: docs/operations/corruption.md.',
      ],
      AlarmStands: [
        'etcd raised CORRUPT, and the members hold the same data now.',
        'Wait while the operator disarms it; if Progressing asks for an approval, decide: docs/operations/corruption.md.',
      ],
    },
    Unknown: {
      NotCompared: [
        'etcd says that data differs, and the members have not all been compared.',
        'Bring back the members that the message names; the operator compares them as soon as they answer.',
      ],
    },
  },
  /** Is an operation under way? */
  Progressing: {
    True: PROGRESS_REASONS,
    False: {
      AsSpecified: ['The cluster matches the specification.'],
      Paused: ['Work remains, but the cluster is paused.', 'Resume it: see condition Paused.'],
      Waiting: [
        'Work remains, and the next step waits for something that passes by itself; the message names it.',
        WAIT,
      ],
      Blocked: [
        'Work remains, but it is not safe or not possible to continue.',
        'Read the message, which names the obstacle.',
      ],
      AwaitingApproval: OBSTACLES.AwaitingApproval,
    },
  },
  /** Is something lost being made good? There only while it is. */
  Recovering: {
    True: {
      RecreatingPod: ['A pod is started again on its own volume.', WAIT],
      ReplacingMember: ['A member is being replaced: its data is lost, or a person requested it.', WAIT],
      RestoringCluster: ['All members were lost; the newest backup is being restored.', WAIT],
      WaitingForMember: OBSTACLES.WaitingForMember,
      ClaimExchanged: OBSTACLES.ClaimExchanged,
      BudgetExhausted: OBSTACLES.ReplacementBudget,
    },
    Unknown: {
      NoEvidence: [
        'A member cannot be reached, and nothing proves that it is gone.',
        'Bring its node back, or delete its Node object if the node is gone.',
      ],
    },
  },
  ...OPERATION_CONDITIONS,
  /** Can the version asked for not be brought to the cluster? There only while that is so; nothing is changed for it. */
  UpgradeBlocked: { True: { ...UPGRADE_OBSTACLES, EphemeralMembers: OBSTACLES.EphemeralMembers } },
  /** Are steps held back? There only while they are. */
  Paused: {
    True: {
      PausedBySpec: [
        'spec.paused is true: what the operator has stopped is started again, then no step is taken; the status is still updated.',
        'Set spec.paused to false.',
      ],
      PausedByPerson: [
        'A person paused the workflow; the message says who and why.',
        'Send the resume message.',
      ],
    },
  },
  /** Does the data outlive its pods? */
  Durable: {
    True: { PersistentVolumes: ['Every member keeps its data on a claim that outlives its pod.'] },
    False: {
      EmptyDirAsked: [
        'The specification requests ephemeral members.',
        'Nothing, if a member may be lost with its pod; otherwise create a cluster with volumes and restore into it.',
      ],
      NoDefaultStorageClass: [
        'The specification names no storage and there is no default StorageClass: members are ephemeral.',
        'For a durable cluster set spec.storage.volumeClaimTemplate with a class.',
      ],
    },
    Unknown: { NotDecided: ['The storage of this cluster has not been decided yet.', WAIT] },
  },
  /** Are the volumes as large as asked for? Said once they were not. */
  StorageResized: {
    True: { SizeReached: ['Every volume has the requested size, or more.'] },
    False: {
      Resizing: ['Volumes are being expanded; members keep running.', WAIT],
      ExpansionNotAllowed: [
        'A volume is smaller than requested, and its StorageClass does not allow expansion.',
        'Set allowVolumeExpansion on the StorageClass if its driver supports it; otherwise write another class into spec.storage, which replaces the members (docs/operations/move-volumes.md).',
      ],
      ResizeFailed: [
        'Kubernetes could not expand a volume.',
        'Read the message and the events of the claim; the driver retries automatically.',
      ],
    },
  },
  /** Have the members volumes of the class and size asked for? Said once they had not. */
  VolumesReplaced: {
    True: { AllReplaced: ['Every member has a volume of the requested StorageClass and size.'] },
    False: {
      Replacing: [
        'Members have volumes of another StorageClass, or larger ones, than requested. They are replaced one at a time; the message names those that are left.',
        'Nothing; if the condition Progressing says that it is blocked, read its message.',
      ],
    },
  },
  /** Is there a backup to go back to? */
  BackedUp: {
    True: { VerifiedBackup: ['A verified backup of this cluster exists.'] },
    False: {
      NoBackup: [
        'No EtcdBackup of this cluster has a verified object.',
        'Create an EtcdBackup with spec.clusterRef.',
      ],
      BackupTooOld: [
        'The newest verified backup is older than its schedule allows.',
        'Read the status of the EtcdBackup.',
      ],
      BackupFailed: ['The last backup failed.', 'Read the status of the EtcdBackup.'],
    },
  },
  /** Was etcd ended for the memory that it used? There only while that happened within the last hour. */
  OutOfMemory: {
    True: {
      MembersKilled: [
        'The kernel ended etcd of the members that the message names, because it used more memory than its limit, or because the node had none left. The kubelet starts it again.',
        'Raise spec.pod.resources.limits.memory, or requests.memory if the node ran out of it: docs/operations/sizing.md. A LimitRange of the namespace may set a limit that nobody wrote.',
      ],
    },
  },
  /** Are there pods that this release of the operator would make otherwise? There only while there are. */
  PodsOutdated: {
    True: {
      MadeByEarlierRelease: [
        'Pods were created by another release of the operator, which rendered them differently. A new release restarts no member.',
        'Nothing: each pod is updated when it is next recreated. To update sooner, restart the members: docs/operations/intervene.md.',
      ],
      MayStartEmpty: [
        'Pods whose arguments contain the bootstrap values, such as pods created by hand, would start with their old member ids even if their volumes were emptied.',
        'Restart the members (docs/operations/intervene.md): recreated pods refuse an empty volume. Do not empty any volume until then.',
      ],
    },
  },
} as const satisfies ConditionTable;
