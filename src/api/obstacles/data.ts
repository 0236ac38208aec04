/** Obstacles that claims, volumes and what is on them are. Pure data; see catalogue.ts. */
import { type ReasonRows, WAIT } from './rows.ts';

export const DATA_OBSTACLES = {
  AllVolumesLost: [
    'Every volume of the cluster is proved lost. The operator starts no empty cluster under its name.',
    'If a node or a volume can be recovered, bring it back. Otherwise restore a backup with an EtcdRestore, or delete the EtcdCluster and create a new one.',
  ],
  EverythingLost: [
    'The cluster existed before, but none of its claims, pods or status remain.',
    'Restore a backup into a new EtcdCluster, or delete this one.',
  ],
  FormerCluster: [
    'A deleted EtcdCluster of the same name has left claims or pods, and nobody has said whether they are taken up.',
    'Annotate the EtcdCluster as the message says: take the members up with their data, or begin anew (docs/operations/delete.md).',
  ],
  TakeUpRefused: [
    'What a deleted EtcdCluster of the same name has left cannot be taken up as it is; nothing is created.',
    'Do what the message says: bring back what is missing, correct the specification, or begin anew.',
  ],
  ClaimMissing: ['A pod must be stopped, but no PersistentVolumeClaim keeps its data.'],
  ClaimsUnstamped: [
    'A claim lacks the annotations that say which member of which cluster it holds, or has others.',
    'Write the annotations that the message names if the data is that of the member.',
  ],
  ClaimExchanged: [
    'The claim of a member was replaced by another one with the same name. Its volume may lack writes that the member acknowledged, so nothing is started on it.',
    'Read the message: confirm that the claim is the correct one, or let the operator replace the member.',
  ],
  EphemeralMembers: [
    'The members keep their data in their pods, and the change needs new pods.',
    'Create a new cluster with volumes and restore a backup into it.',
  ],
  HibernationRefused: [
    'The members keep their data in their pods, which hibernation would delete.',
    'Set spec.hibernated to false.',
  ],
  StorageClassMissing: [
    'spec.storage names a StorageClass that does not exist. No member is replaced.',
    'Create the StorageClass, or write the former one into spec.storage.',
  ],
  VolumesTooSmall: [
    'spec.storage asks for volumes that are smaller than what the members hold. No member is replaced.',
    'Ask for a larger size, or defragment the members.',
  ],
  DefragmentationInterrupted: [
    'A member ended while it was defragmented. It is not tried again for an hour.',
    'Remove the cause that the message leads to: raise the memory limit, enlarge the volumes, or use a faster disk (docs/operations/defragment.md).',
  ],
  DatabaseNearlyFull: [
    'A database is nearly as large as its quota.',
    'Raise spec.etcd.quotaBackendBytes, or compact and defragment.',
  ],
  DatabaseFull: [
    'A database has reached its quota, and etcd refuses writes. Nothing that may be done without being asked makes enough room.',
    'Do what the message says: raise spec.etcd.quotaBackendBytes, or delete keys (docs/operations/no-space.md).',
  ],
  DataNotCompared: ['It is not known whether the members hold the same keys.', WAIT],
  DataDiffers: [
    'The members do not hold the same keys.',
    'Find out which member is right: docs/operations/corruption.md.',
  ],
  CorruptMember: [
    'A member does not have the data that a majority has, and its replacement waits for an approval.',
    'Approve the replacement, unless the message says that the majority may be wrong and it is; the volume of the member is kept (docs/operations/corruption.md).',
  ],
  DataUndecided: [
    'The members hold different data, and no majority has the same.',
    'Find out which data is right, and request the replacement of the other members (docs/operations/corruption.md).',
  ],
  CorruptUnexplained: [
    'etcd raised CORRUPT, and all members hold the same data: what differed may have been overwritten.',
    'Request the replacement of the member, or approve that the alarm is disarmed (docs/operations/corruption.md).',
  ],
} as const satisfies ReasonRows;
