/**
 * Every event that the operator records, by the kind of resource that it is about. Pure data: events are recorded from it and reference
 * documentation is generated from it. Reasons are stable: users write alerts on them.
 */
import type { ConditionReason } from './conditions/catalogue.ts';
import type { Kind } from './names.ts';

type EventType = 'Normal' | 'Warning';

/** An event on a custom resource, as `kubectl describe` shows it. */
export interface ResourceEvent {
  readonly type: EventType;
  readonly reason: EventReason<Kind> | ConditionReason;
  readonly message: string;
}

/** Type, and when it is recorded; the message of each names members, objects and causes. */
type Cells = readonly [type: EventType, when: string];

export const EVENTS = {
  EtcdCluster: {
    MembersCreated: ['Normal', 'The pods of the first members were created.'],
    MembersCorrected: [
      'Normal',
      'Members that had not started are created again, because the specification was corrected.',
    ],
    ClusterFormed: ['Normal', 'The first members have a quorum, and the cluster id is recorded.'],
    Available: ['Normal', 'The condition Available became True.'],
    OperationStarted: ['Normal', 'An operation started.'],
    OperationSucceeded: ['Normal', 'The goal of an operation is observed.'],
    OperationSuperseded: [
      'Normal',
      'An operation was superseded by an operation of higher priority; it starts again later.',
    ],
    OperationInterrupted: ['Warning', 'An operation ended before its goal, and nothing of it is planned.'],
    OperationFailed: ['Warning', 'A step of an operation failed; the operator plans again.'],
    OperationAborted: ['Warning', 'A person aborted an operation.'],
    OperationRolledBack: ['Warning', 'An operation was undone: the members are as they were before.'],
    MemberAdded: ['Normal', 'A member was added as a learner.'],
    'New Member Added': [
      'Normal',
      'A learner was promoted to a voter. The CoreOS operator used this reason.',
    ],
    MemberStopped: ['Normal', 'The pod of a member was deleted.'],
    MemberRestarted: ['Normal', 'A member was started again on its volume.'],
    MemberUpgraded: ['Normal', 'A member runs another version of etcd.'],
    'Member Removed': ['Normal', 'A member was removed. The CoreOS operator used this reason.'],
    'Replacing Dead Member': ['Warning', 'A lost member was removed. The CoreOS operator used this reason.'],
    ClaimKept: ['Normal', 'The claim of a removed member is kept.'],
    MembersTakenUp: [
      'Normal',
      'The claims, and the pods, of a deleted EtcdCluster of the same name were taken up.',
    ],
    ObjectsLeft: [
      'Normal',
      'The EtcdCluster is deleted, and its claims stay: `storage.retain` is `Retain`, or it was deleted with `--cascade=orphan`, which leaves its pods too.',
    ],
    ClaimEnlarged: ['Normal', 'A larger size was requested for a claim.'],
    DowngradeCancelled: ['Normal', 'The downgrade of etcd to an older minor was cancelled.'],
    DowngradeEnabled: ['Normal', 'The downgrade of etcd to an older minor was enabled.'],
    LeaderMoved: ['Normal', 'Leadership was transferred to another member.'],
    MemberDefragmented: [
      'Normal',
      'The free space in the file of a member was given back to the file system.',
    ],
    RevisionLost: [
      'Warning',
      'A member reads a lower revision after its defragmentation than before: it may have lost writes that were acknowledged.',
    ],
    HistoryCompacted: ['Normal', 'The history of keys before a revision was removed, as a person approved.'],
    MemberWithdrawn: [
      'Warning',
      'The data of a member differs from that of a majority: clients are led away from it.',
    ],
    AlarmDisarmed: [
      'Normal',
      'What raised NOSPACE or CORRUPT is gone: the alarm was disarmed, and a write went through each member.',
    ],
    PodsForceDeleted: ['Warning', 'Pods were deleted without the confirmation of their node.'],
    ObjectCreated: ['Normal', 'A Service or a PodDisruptionBudget of an existing cluster was created.'],
    ObjectPutBack: ['Normal', 'An object of the cluster was changed back, or brought up to date.'],
    CertificatesIssued: ['Normal', 'The operator issued certificates of TLS.auto.'],
    BackupRequested: ['Normal', 'An upgrade requested a backup.'],
    RestoringAfterTotalLoss: ['Warning', 'Every volume is lost, and an EtcdRestore was created.'],
    RecoveringQuorum: [
      'Warning',
      'A person approved the recovery of a quorum that is lost for good, and an EtcdRestore was created.',
    ],
    RestoreBegun: ['Normal', 'A restore replaced the members of the cluster.'],
    RestoreSucceeded: ['Normal', 'A restore succeeded.'],
    RestoreAbandoned: ['Warning', 'A restore was abandoned.'],
  },
  EtcdBackup: {
    BackupStarted: ['Normal', 'A backup started.'],
    BackupSucceeded: ['Normal', 'A backup is in the store and verified.'],
    BackupPartlyVerified: ['Warning', 'A backup is in the store; it could not be verified as requested.'],
    BackupNotVerified: ['Warning', 'A backup is in the store, and its verification found a fault.'],
    StoredBackupVerified: ['Normal', 'A stored backup was verified as an EtcdRequest asked.'],
    StoredBackupPartlyVerified: [
      'Warning',
      'An EtcdRequest asked to verify a stored backup; it could not be verified as requested.',
    ],
    StoredBackupNotVerified: [
      'Warning',
      'An EtcdRequest asked to verify a stored backup, and the verification found a fault.',
    ],
    BackupFailed: ['Warning', 'A backup failed.'],
    BackupAborted: ['Warning', 'A person aborted a backup.'],
    BackupsDeleted: ['Normal', 'Backups beyond the retention were deleted.'],
    CopiesDeleted: ['Normal', 'Copies beyond the retention were deleted from the second store.'],
    CopiesLocked: [
      'Normal',
      'Copies beyond the retention are kept, because the second store lets nobody delete them yet.',
    ],
    BackupsLocked: [
      'Normal',
      'Backups beyond the retention are kept, because the store lets nobody delete them yet: object lock, a retention policy or a hold.',
    ],
  },
  EtcdRestore: {
    SecondStoreUsed: ['Warning', 'The backup is read from the second store of its EtcdBackup.'],
    RestorePending: ['Normal', 'The restore waits.'],
    RestoreValidating: ['Normal', 'The backup is examined.'],
    RestoreFencing: ['Normal', 'The members of the cluster are stopped.'],
    RestoreSeeding: ['Normal', 'The first member is started on the backup.'],
    RestoreGrowing: ['Normal', 'The other members are added.'],
    RestoreSucceeded: ['Normal', 'The restore succeeded.'],
    RestoreFailed: ['Warning', 'The restore failed.'],
    RestoreRefused: ['Warning', 'The restore is refused and does not start.'],
  },
} as const satisfies Record<Kind, Readonly<Record<string, Cells>>>;

type Reasons = { readonly [K in Kind]: Extract<keyof (typeof EVENTS)[K], string> };
/** The reasons of the events of this kind that are not a condition's. */
export type EventReason<K extends Kind> = Reasons[K];

/** An event of this kind of resource: its type follows from its reason. */
export function eventOf<K extends Kind>(kind: K, reason: EventReason<K>, message: string): ResourceEvent {
  const rows = EVENTS[kind] as Readonly<Record<EventReason<K>, Cells>>;
  return { type: rows[reason][0], reason, message };
}
