/** The conditions that say how a cluster is. Pure data; see catalogue.ts. */
import { rows } from './rows.ts';
import { UPGRADE_CONDITIONS } from './of-upgrades.ts';

const WAIT = 'Nothing; the operator goes on by itself.';

/** Can clients read and write? */
const AVAILABLE = rows('Available', {
  LinearizableRead: ['True', 'A linearizable read was answered in the last pass.', ''],
  Creating: ['False', 'The cluster is being created and has not answered yet.', WAIT],
  NotCreated: [
    'False',
    'Nothing was created: the specification cannot be carried out.',
    'Read the other conditions, which name the field to change.',
  ],
  NoQuorum: [
    'False',
    'Members answer, but too few of them to elect a leader.',
    'Bring back nodes and volumes. Delete nothing: what is on the volumes decides whether the cluster comes back.',
  ],
  AllVolumesLost: [
    'False',
    'Every volume of the cluster is proved lost. No empty cluster is started under its name.',
    'See condition QuorumAtRisk.',
  ],
  NoMembers: [
    'False',
    'No member is running, and Kubernetes says so.',
    'Read the events of the pods: image, volume or scheduling problems are named there.',
  ],
  ReadFailed: [
    'False',
    'Members answer, but a linearizable read failed.',
    'Read the message; look for alarms and slow disks.',
  ],
  NoReadyMember: [
    'False',
    'Members answer the operator, but no pod is ready, so the client Service leads nowhere.',
    'Read the events of the pods: the readiness probe says why.',
  ],
  Restoring: ['False', 'The cluster is fenced while a backup is put in place.', WAIT],
  Hibernated: [
    'False',
    'The cluster sleeps as asked; its data is kept.',
    'Set spec.hibernated to false to wake it.',
  ],
  Deleting: ['False', 'The cluster is being deleted.', WAIT],
  NotLookedAt: [
    'Unknown',
    'No pass has succeeded for a minute: nobody has observed whether clients can read and write.',
    'See the condition PassFailing.',
  ],
  Unreachable: [
    'Unknown',
    'No member could be reached. That does not mean that etcd is down.',
    'Check the network between the operator and the pods; nothing is changed meanwhile.',
  ],
});

/** Is the quorum lost, or would one more failure lose it? Said only while that is so, or not known. */
const QUORUM_AT_RISK = rows('QuorumAtRisk', {
  NoMarginLeft: [
    'True',
    'Members are away, or were added by hand and are not known to be well, and one more failure would stop the cluster.',
    'Take nothing else down; bring back the members that the message names, or remove those that were added by hand.',
  ],
  QuorumLost: [
    'True',
    'Too few members are there to agree on anything; members are started again where their volumes are.',
    'Bring back nodes and volumes: the message says what is known of each. Delete nothing: what is on the volumes decides whether the cluster comes back.',
  ],
  AllVolumesLost: [
    'True',
    'Every volume of the cluster is proved lost. No empty cluster is started under its name.',
    'Where a node or a volume can still be had, bring it back. Otherwise restore a backup with an EtcdRestore, or delete the EtcdCluster and make a new one.',
  ],
  MembersUnreachable: [
    'Unknown',
    'No member could be reached, so nobody knows whether there is a quorum.',
    'Check the network between the operator and the pods; nothing is changed meanwhile.',
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
  MembersMissing: ['False', 'The cluster has fewer members than its specification asks for.', WAIT],
  AlarmRaised: [
    'False',
    'etcd raised NOSPACE or CORRUPT.',
    'NOSPACE: raise spec.etcd.quotaBackendBytes, or delete keys, compact and defragment, and disarm the alarm. CORRUPT: delete nothing; find the member whose hash differs with etcdctl endpoint hashkv.',
  ],
  Hibernated: ['False', 'The cluster sleeps as asked.', 'Set spec.hibernated to false to wake it.'],
  NotCreated: ['False', 'Nothing was created.', 'Read the other conditions.'],
  Deleting: ['False', 'The cluster is being deleted.', WAIT],
  MembersUnreachable: [
    'Unknown',
    'A member could not be reached; whether it is well is not known.',
    'Check node and network of the members that the message names.',
  ],
});

/** Is an operation under way? */
const PROGRESSING = rows('Progressing', {
  Creating: ['True', 'The cluster is being created.', WAIT],
  Scaling: ['True', 'Members are being added or removed.', WAIT],
  Upgrading: ['True', 'Members are being moved to another version.', WAIT],
  Repairing: ['True', 'A member is being brought back or replaced.', WAIT],
  RollingOut: ['True', 'A changed specification is being brought to the members.', WAIT],
  Restoring: ['True', 'A backup is being put in place.', WAIT],
  Maintaining: ['True', 'Leadership is being handed over.', WAIT],
  Hibernating: ['True', 'Pods are being stopped; volumes stay.', WAIT],
  Waking: ['True', 'The members of a hibernated cluster are being started.', WAIT],
  Deleting: ['True', 'The cluster is being deleted.', WAIT],
  AsSpecified: ['False', 'The world is as the specification asks.', ''],
  Paused: ['False', 'Work remains, but the cluster is paused.', 'Resume it: see condition Paused.'],
  Blocked: [
    'False',
    'Work remains, and it is not safe or not possible to go on.',
    'Read the message, which says what is in the way.',
  ],
  AwaitingApproval: [
    'False',
    'The next step needs the consent of a person.',
    'Read the message; approve or abort.',
  ],
});

/** Is something lost being made good? There only while it is. */
const RECOVERING = rows('Recovering', {
  RecreatingPod: ['True', 'A pod is started again on its own volume.', WAIT],
  ReplacingMember: ['True', 'A member whose data is lost is being replaced.', WAIT],
  RestoringCluster: ['True', 'All members were lost; the newest backup is being restored.', WAIT],
  WaitingForMember: ['True', 'A member is away; its node or volume may come back.', WAIT],
  ClaimExchanged: [
    'True',
    'Another claim stands under the name of a member: its volume may lack what the member acknowledged, and nothing is started on it.',
    'Read the message: say that the claim is the right one, or let the member be replaced.',
  ],
  BudgetExhausted: [
    'True',
    'More members were lost in an hour than may be replaced without a person.',
    'Find out why members are lost, then approve the replacement.',
  ],
  NoEvidence: [
    'Unknown',
    'A member cannot be reached, and nothing proves that it is gone.',
    'Bring its node back, or say that it is gone by deleting the Node object.',
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
    'spec.paused is true: no step is taken, status is still written.',
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
    'The specification asks for ephemeral members.',
    'Accept that a deleted pod is a lost member, or make a cluster with volumes and restore into it.',
  ],
  NoDefaultStorageClass: [
    'False',
    'No storage was asked for and there is no default StorageClass: members are ephemeral.',
    'For a durable cluster set spec.storage.volumeClaimTemplate with a class.',
  ],
  NotDecided: ['Unknown', 'The storage of this cluster has not been decided yet.', WAIT],
});

/** Are the volumes as large as asked for? Said once they were not. */
const STORAGE_RESIZED = rows('StorageResized', {
  SizeReached: ['True', 'Every volume has the size asked for, or more.', ''],
  Resizing: ['False', 'Volumes are being enlarged; members go on running.', WAIT],
  ExpansionNotAllowed: [
    'False',
    'A volume is smaller than asked for, and its StorageClass does not let volumes grow.',
    'Set allowVolumeExpansion on the StorageClass where its driver can do it; else make a new cluster and restore a backup into it.',
  ],
  ResizeFailed: [
    'False',
    'Kubernetes could not enlarge a volume.',
    'Read the message and the events of the claim; the driver tries again by itself.',
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
    'Pods were made by another release of the operator, which rendered them otherwise. A new release restarts nobody.',
    'Nothing: each pod is as new when it is next made. To have it sooner, send the signal restart: docs/operations/intervene.md.',
  ],
  MayStartEmpty: [
    'True',
    'Pods whose arguments say how a member begins, such as pods made by hand, would start again, under their old member ids, on volumes that are emptied under them.',
    'Send the signal restart (docs/operations/intervene.md): pods that are made anew refuse an empty volume. Empty no volumes until then.',
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
