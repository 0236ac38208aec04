/** The conditions that judge what was asked for, and those of backups and restores. Pure data; see catalogue.ts. */
import { rows } from './rows.ts';

const WAIT = 'Nothing; the operator continues automatically.';

/** Does this operator run that version of etcd? */
const VERSION_SUPPORTED = rows('VersionSupported', {
  Supported: ['True', 'This operator supports this etcd version.', ''],
  NewerThanKnown: ['True', 'The minor is supported; the patch release is newer than this operator.', ''],
  TooOld: [
    'False',
    'The version is out of support; nothing is created or changed for it.',
    'Set spec.version to a supported one.',
  ],
  TooNew: [
    'False',
    'This operator does not know the minor version; nothing is created or changed for it.',
    'Set spec.version to a supported one, or upgrade the operator.',
  ],
  Malformed: ['False', 'The version is not of the form x.y.z.', 'Set spec.version to a release of etcd.'],
});

/** Is something known against that version? */
const VERSION_OUTDATED = rows('VersionOutdated', {
  BelowDataLossFloor: [
    'True',
    'The version has a known bug that can lose data or a member.',
    'Upgrade to the version that the message names.',
  ],
  BelowSecurityFloor: [
    'True',
    'The version has a known vulnerability.',
    'Upgrade to the version that the message names.',
  ],
  UpToDate: ['False', 'The version has no known problem.', ''],
});

/** Can the specification be carried out? */
const SPEC_VALID = rows('SpecValid', {
  Valid: ['True', 'The specification is valid.', ''],
  Invalid: [
    'False',
    'The specification contradicts itself or etcd; nothing is changed for it.',
    'Read the message, which names the fields.',
  ],
});

/** Is something asked for that is not done? */
const FIELDS_IGNORED = rows('FieldsIgnored', {
  SomeIgnored: [
    'True',
    'Fields are set that are accepted but have no effect; the message lists them.',
    'Remove them, or accept that they have no effect.',
  ],
  NoneIgnored: ['False', 'Every field that is set has an effect.', ''],
});

/** Is something left out that a new cluster would be given another value for? */
const FIELDS_KEPT = rows('FieldsKept', {
  SomeKept: [
    'True',
    'Fields that the specification omits keep their previous value; the message lists them.',
    'Nothing, or write the value that you want.',
  ],
});

/** Is the size one that costs a member without gaining anything? */
const EVEN_SIZE = rows('EvenSize', {
  NoExtraTolerance: [
    'True',
    'An even number of members tolerates no more failures than one less.',
    'Prefer 1, 3, 5 or 7.',
  ],
  OddSize: ['False', 'The size is odd.', ''],
});

/** May the volume become full? */
const STORAGE_TIGHT = rows('StorageTight', {
  VolumeTooSmall: [
    'True',
    'The volume is smaller than three times the quota and 2Gi: defragmentation and snapshots may fill it.',
    'Expand the volume or lower spec.etcd.quotaBackendBytes.',
  ],
  VolumeLargeEnough: ['False', 'The volume has space for quota, log and defragmentation.', ''],
});

/** Can the cluster be secured as asked? */
const TLS_SUPPORTED = rows('TLSSupported', {
  Supported: ['True', 'The TLS settings are valid.', ''],
  SeveralModes: ['False', 'More than one of static, auto and certManager is set.', 'Keep one of them.'],
});

const REISSUE =
  'Write a valid certificate to the Secret that the message names; the operator picks it up automatically.';

/** Are the certificates good? Said only of clusters that ask for TLS. */
const TLS_READY = rows('TLSReady', {
  Ready: ['True', 'Every certificate exists, matches its key, is trusted and is not about to expire.', ''],
  ExpiresSoon: [
    'True',
    'A certificate expires soon: less than a fifth of its lifetime and less than 30 days are left, or less than a year of an authority of TLS.auto.',
    'Renew the certificate that the message names; etcd loads it without a restart. An authority of TLS.auto is not renewed: restore a backup into a new cluster in time.',
  ],
  SharedIssuer: [
    'True',
    'The certificates are valid and come from a ClusterIssuer. Anyone in any namespace who gets a certificate from it can be a client of this etcd, with the name root its superuser, and with access to port 2380 a member.',
    'Name an Issuer of the namespace that signs for this cluster alone, and change to its authority as described in docs/operations/tls.md.',
  ],
  Issuing: ['False', 'The operator, or cert-manager, is issuing certificates.', WAIT],
  CertManagerMissing: [
    'False',
    'spec.TLS.certManager is set, but the Kubernetes cluster does not serve cert-manager.io/v1. Existing certificates keep working and are not renewed.',
    'Install cert-manager.',
  ],
  SecretMissing: [
    'False',
    'A Secret that spec.TLS names does not exist; a new cluster is not created without it.',
    'Create the Secret that the message names, in the namespace of the cluster.',
  ],
  KeyMissing: ['False', 'A Secret lacks a key.', 'Add the key that the message names to the Secret.'],
  Malformed: ['False', 'The value of a key in a Secret is not valid PEM.', REISSUE],
  KeyMismatch: ['False', 'A private key does not match its certificate.', REISSUE],
  NotTrusted: [
    'False',
    'A certificate is not signed by the authority that the other side trusts.',
    'Issue the certificate with that authority, or write the correct authority to the Secret.',
  ],
  Expired: ['False', 'A certificate has expired.', REISSUE],
  NotYetValid: ['False', 'A certificate is not valid yet.', REISSUE],
  WrongNames: [
    'False',
    'A certificate lacks names under which the members are reached.',
    'Issue it again with the names that the message lists.',
  ],
  WrongUsage: [
    'False',
    'The extended key usage of a certificate does not allow its purpose.',
    'Issue it again: servers need server auth, clients client auth, peers both.',
  ],
  NameTaken: [
    'False',
    'A Secret or Certificate with a name that the operator needs for its own certificates has another owner.',
    'Remove or rename the object that the message names.',
  ],
  AuthorityLost: [
    'False',
    'An authority of TLS.auto is lost: existing certificates keep working and cannot be renewed.',
    'Restore the Secret that the message names from a backup.',
  ],
  Unsupported: [
    'False',
    'A key or a signature has a type that etcd, or the Go version with which it is built, refuses: SHA-1, RSA keys below 1024 bits, curves other than those of NIST, DSA.',
    REISSUE,
  ],
  AuthorityExchanged: [
    'False',
    'A certificate is signed by an authority that running members do not trust: they read authorities only when they start. New connections fail. Until this is fixed, nothing is restarted, added or signed.',
    'Restore what the message names, and roll out the new authority to the members first; or hibernate the cluster and resume it.',
  ],
  AuthorityRollingOut: [
    'True',
    'The authorities in a Secret differ from those that the members have read: the operator restarts the members one at a time.',
    'Nothing; do not sign anything with a new authority until this has ended.',
  ],
  NextNamesMissing: [
    'True',
    'Certificates list the members by name, but not the next one. Until they do, a lost member is not replaced, and no backup is restored.',
    'Issue them with the names that the message lists, or with a wildcard for all members.',
  ],
  IssuerChanged: [
    'True',
    'spec.TLS.certManager names an issuer other than the one of the certificates. The operator does not use it while members run, because they would not trust its authority.',
    'Hibernate the cluster and resume it when TLSReady is True; or write the issuer to the Certificates yourself if its authority is the same; or name the previous issuer again.',
  ],
  ClocksDiffer: [
    'Unknown',
    "Certificates are due, but the clock of the operator's machine differs from the API server's by more than an hour, so nothing is issued or renewed.",
    'Correct the clocks of the machines of the operator and of the API server.',
  ],
  ModeSwitched: [
    'False',
    'spec.TLS requests a mode other than the one of the running cluster; nothing is changed.',
    'Restore the previous mode; to switch, create a new cluster and restore a backup into it.',
  ],
});

/** Does the operator lack its workflow engine? */
const TEMPORAL_UNAVAILABLE = rows('TemporalUnavailable', {
  Unreachable: [
    'True',
    'The operator cannot reach Temporal: members keep running, nothing is changed or repaired.',
    'Bring Temporal back; the operator retries automatically.',
  ],
  Reachable: ['False', 'The operator reaches Temporal.', ''],
});

/** Does the workflow of the resource fail over and over? Kept by the watcher. */
const WORKFLOW_STUCK = rows('WorkflowStuck', {
  WorkflowTaskFailing: [
    'True',
    "The resource's workflow cannot continue: its code does not match its history, or it fails in another way.",
    'Inspect the workflow in the Temporal UI; reset it, or terminate it: it starts again from what the operator observes.',
  ],
  WorkflowTasksSucceed: ['False', 'The tasks of the workflow succeed.', ''],
});

/** Has no pass of the resource succeeded for a minute? Kept by the watcher. */
const PASS_FAILING = rows('PassFailing', {
  PassFails: [
    'True',
    'Passes run and fail, so the status is not current.',
    'Read the error in the message and remove its cause: a missing permission, a webhook or quota that refuses, a server that does not answer.',
  ],
  TasksNotCompleted: [
    'True',
    "No worker of the operator completes the tasks of the resource's workflow.",
    "Check whether the operator's pods run and have CPU time, their logs, and the condition WorkflowStuck.",
  ],
  TemporalUnreachable: [
    'Unknown',
    'Temporal cannot be asked whether passes run.',
    'See the condition TemporalUnavailable.',
  ],
  PassesSucceed: ['False', 'Passes succeed.', ''],
});

/** Did the backup or restore succeed? */
const SUCCEEDED = rows('Succeeded', {
  BackupVerified: ['True', 'The last backup is in the store and verified.', ''],
  BackupNotVerified: [
    'False',
    'The last backup is in the store, but its verification has found a fault.',
    'Read the message and do not restore this backup. Take another one, and check the store and the members if it happens again.',
  ],
  RestoreVerified: [
    'True',
    'The restored cluster has quorum, its size and its revision, read through every member.',
    '',
  ],
  Pending: ['Unknown', 'The work has not ended yet.', WAIT],
  Refused: ['False', 'The restore is refused and has not started.', 'See condition Accepted.'],
  Failed: ['False', 'The work failed.', 'Read the message.'],
});

/** Is the schedule understood? */
const SCHEDULE_VALID = rows('ScheduleValid', {
  Valid: ['True', 'The schedule and its time zone are valid.', ''],
  Malformed: [
    'False',
    'The cron expression or the time zone is invalid; no backup runs.',
    'Read the message and correct spec.backupPolicy.',
  ],
  Suspended: ['True', 'The schedule is suspended as requested.', 'Set spec.backupPolicy.suspend to false.'],
});

export const SPEC_CONDITIONS = [
  ...VERSION_SUPPORTED,
  ...VERSION_OUTDATED,
  ...SPEC_VALID,
  ...FIELDS_IGNORED,
  ...FIELDS_KEPT,
  ...EVEN_SIZE,
  ...STORAGE_TIGHT,
  ...TLS_SUPPORTED,
  ...TLS_READY,
  ...TEMPORAL_UNAVAILABLE,
  ...WORKFLOW_STUCK,
  ...PASS_FAILING,
  ...SUCCEEDED,
  ...SCHEDULE_VALID,
] as const;
