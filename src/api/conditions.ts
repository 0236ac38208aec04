/**
 * Every condition that a resource of this operator can carry, with every reason it can have. Pure data: status is written
 * from it and reference documentation is generated from it. Types and reasons are stable: people write alerts on them.
 */

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** metav1.Condition. `lastTransitionTime` is RFC 3339 in UTC and changes only with `status`. */
export type Condition = {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
};

/** One row: a condition of one type, for one reason, always has the same status. */
type Row = {
  readonly type: string;
  readonly reason: string;
  readonly status: ConditionStatus;
  readonly meaning: string;
  /** Empty when nothing needs doing. */
  readonly whatToDo: string;
};

const WAIT = 'Nothing; the operator goes on by itself.';

export const CONDITIONS = [
  // Available: can clients read and write?
  row('Available', 'LinearizableRead', 'True', 'A linearizable read was answered in the last pass.', ''),
  row('Available', 'Creating', 'False', 'The cluster is being created and has not answered yet.', WAIT),
  row(
    'Available',
    'NotCreated',
    'False',
    'Nothing was created: the specification cannot be carried out.',
    'Read the other conditions, which name the field to change.',
  ),
  row(
    'Available',
    'NoQuorum',
    'False',
    'Members answer, but too few of them to elect a leader.',
    'Bring back nodes and volumes; see the runbook on lost quorum before anything is deleted.',
  ),
  row(
    'Available',
    'NoMembers',
    'False',
    'No member is running, and Kubernetes says so.',
    'Read the events of the pods: image, volume or scheduling problems are named there.',
  ),
  row(
    'Available',
    'ReadFailed',
    'False',
    'Members answer, but a linearizable read failed.',
    'Read the message; look for alarms and slow disks.',
  ),
  row(
    'Available',
    'NoReadyMember',
    'False',
    'Members answer the operator, but no pod is ready, so the client Service leads nowhere.',
    'Read the events of the pods: the readiness probe says why.',
  ),
  row('Available', 'Restoring', 'False', 'The cluster is fenced while a backup is put in place.', WAIT),
  row(
    'Available',
    'Hibernated',
    'False',
    'The cluster sleeps as asked; its data is kept.',
    'Set spec.hibernated to false to wake it.',
  ),
  row('Available', 'Deleting', 'False', 'The cluster is being deleted.', WAIT),
  row(
    'Available',
    'Unreachable',
    'Unknown',
    'No member could be reached. That does not mean that etcd is down.',
    'Check the network between the operator and the pods; nothing is changed meanwhile.',
  ),
  row('Available', 'NotObserved', 'Unknown', 'The operator has not looked yet.', WAIT),

  // Healthy: is every member well?
  row(
    'Healthy',
    'AllMembersHealthy',
    'True',
    'Every member answers, agrees on the leader and raises no alarm.',
    '',
  ),
  row('Healthy', 'Creating', 'False', 'Not every member has started yet.', WAIT),
  row(
    'Healthy',
    'MembersUnhealthy',
    'False',
    'A member answers and reports a fault, or its pod is not running.',
    'Read the message, which names the members.',
  ),
  row(
    'Healthy',
    'MembersMissing',
    'False',
    'The cluster has fewer members than its specification asks for.',
    WAIT,
  ),
  row(
    'Healthy',
    'AlarmRaised',
    'False',
    'etcd raised NOSPACE or CORRUPT.',
    'Read the message; see the runbook of that alarm.',
  ),
  row('Healthy', 'NoQuorum', 'False', 'The members that answer have no leader.', 'See condition Available.'),
  row(
    'Healthy',
    'Hibernated',
    'False',
    'The cluster sleeps as asked.',
    'Set spec.hibernated to false to wake it.',
  ),
  row('Healthy', 'NotCreated', 'False', 'Nothing was created.', 'Read the other conditions.'),
  row('Healthy', 'Deleting', 'False', 'The cluster is being deleted.', WAIT),
  row(
    'Healthy',
    'MembersUnreachable',
    'Unknown',
    'A member could not be reached; whether it is well is not known.',
    'Check node and network of the members that the message names.',
  ),
  row('Healthy', 'NotObserved', 'Unknown', 'The operator has not looked yet.', WAIT),

  // Progressing: is an operation under way?
  row('Progressing', 'Creating', 'True', 'The cluster is being created.', WAIT),
  row('Progressing', 'Scaling', 'True', 'Members are being added or removed.', WAIT),
  row('Progressing', 'Upgrading', 'True', 'Members are being moved to another version.', WAIT),
  row('Progressing', 'Repairing', 'True', 'A member is being brought back or replaced.', WAIT),
  row('Progressing', 'RollingOut', 'True', 'A changed specification is being brought to the members.', WAIT),
  row('Progressing', 'Restoring', 'True', 'A backup is being put in place.', WAIT),
  row('Progressing', 'Maintaining', 'True', 'A member is being defragmented, compacted or disarmed.', WAIT),
  row('Progressing', 'Hibernating', 'True', 'Pods are being stopped; volumes stay.', WAIT),
  row('Progressing', 'Waking', 'True', 'The members of a hibernated cluster are being started.', WAIT),
  row('Progressing', 'Deleting', 'True', 'The cluster is being deleted.', WAIT),
  row('Progressing', 'AsSpecified', 'False', 'The world is as the specification asks.', ''),
  row(
    'Progressing',
    'Paused',
    'False',
    'Work remains, but the cluster is paused.',
    'Resume it: see condition Paused.',
  ),
  row(
    'Progressing',
    'Blocked',
    'False',
    'Work remains, and it is not safe or not possible to go on.',
    'Read the message, which says what is in the way.',
  ),
  row(
    'Progressing',
    'AwaitingApproval',
    'False',
    'The next step needs the consent of a person.',
    'Read the message; approve or abort.',
  ),
  row('Progressing', 'NotObserved', 'Unknown', 'The operator has not looked yet.', WAIT),

  // Recovering: is something lost being made good?
  row('Recovering', 'RecreatingPod', 'True', 'A pod is started again on its own volume.', WAIT),
  row('Recovering', 'ReplacingMember', 'True', 'A member whose data is lost is being replaced.', WAIT),
  row(
    'Recovering',
    'RestoringCluster',
    'True',
    'All members were lost; the newest backup is being restored.',
    WAIT,
  ),
  row('Recovering', 'WaitingForMember', 'True', 'A member is away; its node or volume may come back.', WAIT),
  row(
    'Recovering',
    'BudgetExhausted',
    'True',
    'More members were lost in an hour than may be replaced without a person.',
    'Find out why members are lost, then approve the replacement.',
  ),
  row('Recovering', 'NothingLost', 'False', 'No member is lost.', ''),
  row(
    'Recovering',
    'NoEvidence',
    'Unknown',
    'A member cannot be reached, and nothing proves that it is gone.',
    'Bring its node back, or say that it is gone by deleting the Node object.',
  ),

  // Scaling
  row('Scaling', 'ScalingUp', 'True', 'A member is being added.', WAIT),
  row('Scaling', 'ScalingDown', 'True', 'A member is being removed.', WAIT),
  row('Scaling', 'SizeReached', 'False', 'The cluster has as many members as asked for.', ''),
  row('Scaling', 'Blocked', 'False', 'Scaling is not safe now.', 'Read the message.'),

  // Upgrading
  row(
    'Upgrading',
    'RollingUpgrade',
    'True',
    'Members are being moved to a newer version one at a time.',
    WAIT,
  ),
  row(
    'Upgrading',
    'RollingDowngrade',
    'True',
    'Members are being moved to an older version one at a time.',
    WAIT,
  ),
  row('Upgrading', 'RollingBack', 'True', 'An upgrade failed; members go back to the old version.', WAIT),
  row(
    'Upgrading',
    'AwaitingApproval',
    'True',
    'The upgrade waits for a person.',
    'Read the message; approve or abort.',
  ),
  row('Upgrading', 'VersionReached', 'False', 'Every member runs the version asked for.', ''),
  row(
    'Upgrading',
    'PathRefused',
    'False',
    'etcd cannot go from the present version to the one asked for.',
    'Read the message, which names the next version to ask for.',
  ),
  row('Upgrading', 'Blocked', 'False', 'An upgrade is not safe now.', 'Read the message.'),

  // Paused
  row(
    'Paused',
    'PausedBySpec',
    'True',
    'spec.paused is true: no step is taken, status is still written.',
    'Set spec.paused to false.',
  ),
  row(
    'Paused',
    'PausedByPerson',
    'True',
    'A person paused the workflow; the message says who and why.',
    'Send the resume message.',
  ),
  row('Paused', 'NotPaused', 'False', 'Steps are taken as needed.', ''),

  // Durable: does the data outlive its pods?
  row(
    'Durable',
    'PersistentVolumes',
    'True',
    'Every member keeps its data on a claim that outlives its pod.',
    '',
  ),
  row(
    'Durable',
    'EmptyDirAsked',
    'False',
    'The specification asks for ephemeral members.',
    'Accept that a deleted pod is a lost member, or make a cluster with volumes and restore into it.',
  ),
  row(
    'Durable',
    'NoDefaultStorageClass',
    'False',
    'No storage was asked for and there is no default StorageClass: members are ephemeral.',
    'For a durable cluster set spec.storage.volumeClaimTemplate with a class.',
  ),
  row('Durable', 'NotDecided', 'Unknown', 'The storage of this cluster has not been decided yet.', WAIT),

  // BackedUp
  row('BackedUp', 'VerifiedBackup', 'True', 'A verified backup of this cluster exists.', ''),
  row(
    'BackedUp',
    'NoBackup',
    'False',
    'No EtcdBackup of this cluster has a verified object.',
    'Create an EtcdBackup with spec.clusterRef.',
  ),
  row(
    'BackedUp',
    'BackupTooOld',
    'False',
    'The newest verified backup is older than its schedule allows.',
    'Read the status of the EtcdBackup.',
  ),
  row('BackedUp', 'BackupFailed', 'False', 'The last backup failed.', 'Read the status of the EtcdBackup.'),

  // VersionSupported, VersionOutdated
  row('VersionSupported', 'Supported', 'True', 'This operator runs that etcd version.', ''),
  row(
    'VersionSupported',
    'NewerThanKnown',
    'True',
    'The minor is supported; the patch release is newer than this operator.',
    '',
  ),
  row(
    'VersionSupported',
    'TooOld',
    'False',
    'The version is out of support; nothing is created or changed for it.',
    'Set spec.version to a supported one.',
  ),
  row(
    'VersionSupported',
    'TooNew',
    'False',
    'The minor is not known to this operator; nothing is created or changed for it.',
    'Set spec.version to a supported one, or upgrade the operator.',
  ),
  row(
    'VersionSupported',
    'Malformed',
    'False',
    'The version is not of the form x.y.z.',
    'Set spec.version to a release of etcd.',
  ),
  row(
    'VersionOutdated',
    'BelowDataLossFloor',
    'True',
    'The version has a known fault that can lose data or a member.',
    'Upgrade to the version that the message names.',
  ),
  row(
    'VersionOutdated',
    'BelowSecurityFloor',
    'True',
    'The version has a known vulnerability.',
    'Upgrade to the version that the message names.',
  ),
  row('VersionOutdated', 'UpToDate', 'False', 'Nothing known speaks against the version.', ''),

  // What the specification says
  row('SpecValid', 'Valid', 'True', 'The specification can be carried out.', ''),
  row(
    'SpecValid',
    'Invalid',
    'False',
    'The specification contradicts itself or etcd; nothing is changed for it.',
    'Read the message, which names the fields.',
  ),
  row(
    'FieldsIgnored',
    'SomeIgnored',
    'True',
    'Fields are set that are accepted and not acted upon; the message names each.',
    'Remove them, or know that they do nothing.',
  ),
  row('FieldsIgnored', 'NoneIgnored', 'False', 'Every field that is set is acted upon.', ''),
  row(
    'EvenSize',
    'NoExtraTolerance',
    'True',
    'An even number of members tolerates no more failures than one less.',
    'Prefer 1, 3, 5 or 7.',
  ),
  row('EvenSize', 'OddSize', 'False', 'The size is odd.', ''),
  row(
    'StorageTight',
    'VolumeTooSmall',
    'True',
    'The volume is smaller than three times the quota and 2Gi: defragmentation and snapshots may fill it.',
    'Enlarge the volume or lower spec.etcd.quotaBackendBytes.',
  ),
  row(
    'StorageTight',
    'VolumeLargeEnough',
    'False',
    'The volume has room for quota, log and defragmentation.',
    '',
  ),
  row('TLSSupported', 'Supported', 'True', 'The TLS settings can be carried out.', ''),
  row(
    'TLSSupported',
    'NotActedOnYet',
    'False',
    'This release does not build clusters with TLS; nothing is created, rather than a cluster in plain text.',
    'Remove spec.TLS, or use a release that supports it.',
  ),
  row(
    'TLSSupported',
    'SeveralModes',
    'False',
    'More than one of static, auto and certManager is set.',
    'Keep one of them.',
  ),

  // The operator itself
  row(
    'TemporalUnavailable',
    'Unreachable',
    'True',
    'The operator cannot reach Temporal: members go on running, nothing is changed or repaired.',
    'Bring Temporal back; the operator retries by itself.',
  ),
  row('TemporalUnavailable', 'Reachable', 'False', 'The operator reaches Temporal.', ''),

  // EtcdBackup and EtcdRestore
  row('Succeeded', 'BackupVerified', 'True', 'The last backup is in the store and verified.', ''),
  row(
    'Succeeded',
    'RestoreVerified',
    'True',
    'The restored cluster has quorum, its size and its revision, read through every member.',
    '',
  ),
  row('Succeeded', 'Pending', 'Unknown', 'The work has not ended yet.', WAIT),
  row('Succeeded', 'Failed', 'False', 'The work failed.', 'Read the message.'),
  row('ScheduleValid', 'Valid', 'True', 'The schedule and its time zone are understood.', ''),
  row(
    'ScheduleValid',
    'Malformed',
    'False',
    'The cron expression or the time zone is not understood; nothing runs.',
    'Read the message and correct spec.backupPolicy.',
  ),
  row(
    'ScheduleValid',
    'Suspended',
    'True',
    'The schedule is suspended as asked.',
    'Set spec.backupPolicy.suspend to false.',
  ),
] as const;

/** A row of {@link CONDITIONS}. */
export type ConditionRow = (typeof CONDITIONS)[number];
export type ConditionType = ConditionRow['type'];
/** The reasons that a condition of type `T` can have. */
export type ReasonOf<T extends ConditionType> = Extract<ConditionRow, { type: T }>['reason'];

/** A condition as a decision of the planner: without the two fields that only status writing knows. */
export type ConditionFinding = {
  readonly type: ConditionType;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
};

/** The longest message that metav1.Condition allows. */
const MAX_MESSAGE_LENGTH = 32768;

/**
 * A condition with the status that its reason always has. Without a message the row's meaning is said.
 * Throws a RangeError for a pair that is not in {@link CONDITIONS}, which the type system already refuses.
 */
export function finding<T extends ConditionType>(
  type: T,
  reason: ReasonOf<T>,
  message?: string,
): ConditionFinding {
  const rows: readonly Row[] = CONDITIONS;
  const found = rows.find(candidate => candidate.type === type && candidate.reason === reason);
  if (found === undefined) throw new RangeError(`no condition ${type} with reason ${reason} is declared`);
  return {
    type,
    status: found.status,
    reason,
    message: (message ?? found.meaning).slice(0, MAX_MESSAGE_LENGTH),
  };
}

function row<T extends string, R extends string, S extends ConditionStatus>(
  type: T,
  reason: R,
  status: S,
  meaning: string,
  whatToDo: string,
): {
  readonly type: T;
  readonly reason: R;
  readonly status: S;
  readonly meaning: string;
  readonly whatToDo: string;
} {
  return { type, reason, status, meaning, whatToDo };
}
