/** The conditions that say how a cluster is. Pure data; see catalogue.ts. */
import { rows } from './rows.ts';
import { UPGRADE_CONDITIONS } from './of-upgrades.ts';

const WAIT = 'Nothing; the operator continues automatically.';

/** Can clients read and write? */
const AVAILABLE = rows('Available', {
  LinearizableRead: ['True', 'A linearizable read was answered in the last pass.', ''],
  Creating: ['False', 'The cluster is being created and does not answer yet.', WAIT],
  NotCreated: [
    'False',
    'Nothing was created: the specification is invalid.',
    'Read the other conditions, which name the field to change.',
  ],
  NoQuorum: [
    'False',
    'Members answer, but too few of them to elect a leader.',
    'Bring back nodes and volumes. Delete nothing: the data on the volumes decides whether the cluster can be recovered.',
  ],
  AllVolumesLost: [
    'False',
    'Every volume of the cluster is proved lost. The operator starts no empty cluster under its name.',
    'See condition QuorumAtRisk.',
  ],
  NoMembers: [
    'False',
    'No member is running, according to Kubernetes.',
    'Read the events of the pods, which name image, volume or scheduling problems.',
  ],
  ReadFailed: [
    'False',
    'Members answer, but a linearizable read failed.',
    'Read the message; check for alarms and slow disks.',
  ],
  NoReadyMember: [
    'False',
    'Members answer the operator, but no pod is ready, so the client Service has no endpoint.',
    'Read the events of the pods, which contain the result of the readiness probe.',
  ],
  Restoring: ['False', 'The cluster is fenced while a backup is restored.', WAIT],
  Hibernated: [
    'False',
    'The cluster is hibernated as requested; its data is kept.',
    'Set spec.hibernated to false to resume it.',
  ],
  Deleting: ['False', 'The cluster is being deleted.', WAIT],
  NotLookedAt: [
    'Unknown',
    'No pass has succeeded for a minute, so it is not known whether clients can read and write.',
    'See the condition PassFailing.',
  ],
  Unreachable: [
    'Unknown',
    'No member could be reached. That does not mean that etcd is down.',
    'Check the network between the operator and the pods; nothing is changed until then.',
  ],
});

/** Is the quorum lost, or would one more failure lose it? Said only while that is so, or not known. */
const QUORUM_AT_RISK = rows('QuorumAtRisk', {
  NoMarginLeft: [
    'True',
    'Members are unavailable, or were added by hand and are not known to be healthy, and one more failure would stop the cluster.',
    'Stop nothing else; bring back the members that the message names, or remove those that were added by hand.',
  ],
  QuorumLost: [
    'True',
    'Too few members are available for a quorum; the operator starts members again where their volumes exist.',
    'Bring back nodes and volumes: the message says what is known about each. Delete nothing: the data on the volumes decides whether the cluster can be recovered.',
  ],
  AllVolumesLost: [
    'True',
    'Every volume of the cluster is proved lost. The operator starts no empty cluster under its name.',
    'If a node or a volume can be recovered, bring it back. Otherwise restore a backup with an EtcdRestore, or delete the EtcdCluster and create a new one.',
  ],
  MembersUnreachable: [
    'Unknown',
    'No member could be reached, so it is not known whether there is a quorum.',
    'Check the network between the operator and the pods; nothing is changed until then.',
  ],
});

/** Is every member well? */
const HEALTHY = rows('Healthy', {
  AllMembersHealthy: ['True', 'Every member answers, agrees on the leader and raises no alarm.', ''],
  Creating: ['False', 'Not every member has started yet.', WAIT],
  MembersUnhealthy: [
    'False',
    'A member answers and reports a fault, or its pod is not running.',
    'Read the message, which names the members.',
  ],
  MembersMissing: ['False', 'The cluster has fewer members than its specification requests.', WAIT],
  AlarmRaised: [
    'False',
    'etcd raised NOSPACE or CORRUPT.',
    'NOSPACE: raise spec.etcd.quotaBackendBytes, or delete keys, compact and defragment, and disarm the alarm. CORRUPT: delete nothing; find the member whose hash differs with etcdctl endpoint hashkv.',
  ],
  Hibernated: [
    'False',
    'The cluster is hibernated as requested.',
    'Set spec.hibernated to false to resume it.',
  ],
  NotCreated: ['False', 'Nothing was created.', 'Read the other conditions.'],
  Deleting: ['False', 'The cluster is being deleted.', WAIT],
  MembersUnreachable: [
    'Unknown',
    'A member could not be reached; it is not known whether it is healthy.',
    'Check node and network of the members that the message names.',
  ],
});

/** Is an operation under way? */
const PROGRESSING = rows('Progressing', {
  Creating: ['True', 'The cluster is being created.', WAIT],
  Scaling: ['True', 'Members are being added or removed.', WAIT],
  Upgrading: ['True', 'Members are being upgraded or downgraded.', WAIT],
  Repairing: ['True', 'A member is being restarted or replaced.', WAIT],
  RollingOut: ['True', 'A changed specification is being rolled out to the members.', WAIT],
  Restoring: ['True', 'A backup is being restored.', WAIT],
  Maintaining: ['True', 'Leadership is being transferred.', WAIT],
  Hibernating: ['True', 'Pods are being stopped; volumes remain.', WAIT],
  Waking: ['True', 'The members of a hibernated cluster are being started.', WAIT],
  Deleting: ['True', 'The cluster is being deleted.', WAIT],
  AsSpecified: ['False', 'The cluster matches the specification.', ''],
  Paused: ['False', 'Work remains, but the cluster is paused.', 'Resume it: see condition Paused.'],
  Blocked: [
    'False',
    'Work remains, but it is not safe or not possible to continue.',
    'Read the message, which names the obstacle.',
  ],
  AwaitingApproval: [
    'False',
    'The next step requires the approval of a person.',
    'Read the message; approve or abort.',
  ],
});

/** Is something lost being made good? There only while it is. */
const RECOVERING = rows('Recovering', {
  RecreatingPod: ['True', 'A pod is started again on its own volume.', WAIT],
  ReplacingMember: ['True', 'A member whose data is lost is being replaced.', WAIT],
  RestoringCluster: ['True', 'All members were lost; the newest backup is being restored.', WAIT],
  WaitingForMember: ['True', 'A member is unavailable; its node or volume may come back.', WAIT],
  ClaimExchanged: [
    'True',
    'The claim of a member was replaced by another one with the same name. Its volume may lack writes that the member acknowledged, so nothing is started on it.',
    'Read the message: confirm that the claim is the correct one, or let the operator replace the member.',
  ],
  BudgetExhausted: [
    'True',
    'More members were lost in an hour than may be replaced without an approval.',
    'Find out why members are lost, then approve the replacement.',
  ],
  NoEvidence: [
    'Unknown',
    'A member cannot be reached, and nothing proves that it is gone.',
    'Bring its node back, or delete its Node object if the node is gone.',
  ],
});

/** Is the number of members changing? There only while it is. */
const SCALING = rows('Scaling', {
  ScalingUp: ['True', 'A member is being added.', WAIT],
  ScalingDown: ['True', 'A member is being removed.', WAIT],
});

/** Are steps held back? There only while they are. */
const PAUSED = rows('Paused', {
  PausedBySpec: [
    'True',
    'spec.paused is true: no step is taken; the status is still updated.',
    'Set spec.paused to false.',
  ],
  PausedByPerson: [
    'True',
    'A person paused the workflow; the message says who and why.',
    'Send the resume message.',
  ],
});

/** Does the data outlive its pods? */
const DURABLE = rows('Durable', {
  PersistentVolumes: ['True', 'Every member keeps its data on a claim that outlives its pod.', ''],
  EmptyDirAsked: [
    'False',
    'The specification requests ephemeral members.',
    'Accept that deleting a pod loses its member, or create a cluster with volumes and restore into it.',
  ],
  NoDefaultStorageClass: [
    'False',
    'The specification names no storage and there is no default StorageClass: members are ephemeral.',
    'For a durable cluster set spec.storage.volumeClaimTemplate with a class.',
  ],
  NotDecided: ['Unknown', 'The storage of this cluster has not been decided yet.', WAIT],
});

/** Are the volumes as large as asked for? Said once they were not. */
const STORAGE_RESIZED = rows('StorageResized', {
  SizeReached: ['True', 'Every volume has the requested size, or more.', ''],
  Resizing: ['False', 'Volumes are being expanded; members keep running.', WAIT],
  ExpansionNotAllowed: [
    'False',
    'A volume is smaller than requested, and its StorageClass does not allow expansion.',
    'Set allowVolumeExpansion on the StorageClass if its driver supports it; otherwise create a new cluster and restore a backup into it.',
  ],
  ResizeFailed: [
    'False',
    'Kubernetes could not expand a volume.',
    'Read the message and the events of the claim; the driver retries automatically.',
  ],
});

/** Is there a backup to go back to? */
const BACKED_UP = rows('BackedUp', {
  VerifiedBackup: ['True', 'A verified backup of this cluster exists.', ''],
  NoBackup: [
    'False',
    'No EtcdBackup of this cluster has a verified object.',
    'Create an EtcdBackup with spec.clusterRef.',
  ],
  BackupTooOld: [
    'False',
    'The newest verified backup is older than its schedule allows.',
    'Read the status of the EtcdBackup.',
  ],
  BackupFailed: ['False', 'The last backup failed.', 'Read the status of the EtcdBackup.'],
});

/** Are there pods that this release of the operator would make otherwise? There only while there are. */
const PODS_OUTDATED = rows('PodsOutdated', {
  MadeByEarlierRelease: [
    'True',
    'Pods were created by another release of the operator, which rendered them differently. A new release restarts no member.',
    'Nothing: each pod is updated when it is next recreated. To update sooner, send the signal restart: docs/operations/intervene.md.',
  ],
  MayStartEmpty: [
    'True',
    'Pods whose arguments contain the bootstrap values, such as pods created by hand, would start with their old member ids even if their volumes were emptied.',
    'Send the signal restart (docs/operations/intervene.md): recreated pods refuse an empty volume. Do not empty any volume until then.',
  ],
});

export const STATE_CONDITIONS = [
  ...AVAILABLE,
  ...QUORUM_AT_RISK,
  ...HEALTHY,
  ...PROGRESSING,
  ...RECOVERING,
  ...SCALING,
  ...UPGRADE_CONDITIONS,
  ...PAUSED,
  ...DURABLE,
  ...STORAGE_RESIZED,
  ...PODS_OUTDATED,
  ...BACKED_UP,
] as const;
