/** The conditions that judge what was asked for, and those of backups and restores. Pure data; see catalogue.ts. */
import { rows } from './rows.ts';

const WAIT = 'Nothing; the operator goes on by itself.';

/** Does this operator run that version of etcd? */
const VERSION_SUPPORTED = rows('VersionSupported', {
  Supported: ['True', 'This operator runs that etcd version.', ''],
  NewerThanKnown: ['True', 'The minor is supported; the patch release is newer than this operator.', ''],
  TooOld: [
    'False',
    'The version is out of support; nothing is created or changed for it.',
    'Set spec.version to a supported one.',
  ],
  TooNew: [
    'False',
    'The minor is not known to this operator; nothing is created or changed for it.',
    'Set spec.version to a supported one, or upgrade the operator.',
  ],
  Malformed: ['False', 'The version is not of the form x.y.z.', 'Set spec.version to a release of etcd.'],
});

/** Is something known against that version? */
const VERSION_OUTDATED = rows('VersionOutdated', {
  BelowDataLossFloor: [
    'True',
    'The version has a known fault that can lose data or a member.',
    'Upgrade to the version that the message names.',
  ],
  BelowSecurityFloor: [
    'True',
    'The version has a known vulnerability.',
    'Upgrade to the version that the message names.',
  ],
  UpToDate: ['False', 'Nothing known speaks against the version.', ''],
});

/** Can the specification be carried out? */
const SPEC_VALID = rows('SpecValid', {
  Valid: ['True', 'The specification can be carried out.', ''],
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
    'Fields are set that are accepted and not acted upon; the message names each.',
    'Remove them, or know that they do nothing.',
  ],
  NoneIgnored: ['False', 'Every field that is set is acted upon.', ''],
});

/** Is something left out that a new cluster would be given another value for? */
const FIELDS_KEPT = rows('FieldsKept', {
  SomeKept: [
    'True',
    'Fields that the specification leaves out keep the value that they had; the message names each.',
    'Nothing, or write the value that is wanted.',
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
    'Enlarge the volume or lower spec.etcd.quotaBackendBytes.',
  ],
  VolumeLargeEnough: ['False', 'The volume has room for quota, log and defragmentation.', ''],
});

/** Can the cluster be secured as asked? */
const TLS_SUPPORTED = rows('TLSSupported', {
  Supported: ['True', 'The TLS settings can be carried out.', ''],
  SeveralModes: ['False', 'More than one of static, auto and certManager is set.', 'Keep one of them.'],
});

const REISSUE = 'Put a good certificate into the Secret that the message names; it is picked up by itself.';

/** Are the certificates good? Said only of clusters that ask for TLS. */
const TLS_READY = rows('TLSReady', {
  Ready: ['True', 'Every certificate is there, belongs to its key, is trusted and lasts.', ''],
  ExpiresSoon: [
    'True',
    'A certificate is near its end: less than a fifth of its life and less than 30 days are left; or an authority of TLS.auto has less than a year left.',
    'Renew the certificate that the message names; etcd takes it up without a restart. An authority of TLS.auto is not renewed: restore a backup into a new cluster in time.',
  ],
  SharedIssuer: [
    'True',
    'The certificates are good, and come from a ClusterIssuer: whoever of any namespace gets a certificate from it can be a client of this etcd, one of the name root its superuser, and near port 2380 a member.',
    'Name an Issuer of the namespace that signs for this cluster alone, and take up its authority as docs/operations/tls.md says.',
  ],
  Issuing: ['False', 'The operator, or cert-manager, is about to issue certificates.', WAIT],
  CertManagerMissing: [
    'False',
    'spec.TLS.certManager is asked for and the Kubernetes cluster does not serve cert-manager.io/v1. Certificates that are there work on, and are not renewed.',
    'Install cert-manager.',
  ],
  SecretMissing: [
    'False',
    'A Secret that spec.TLS names does not exist; a new cluster is not created without it.',
    'Create the Secret that the message names, in the namespace of the cluster.',
  ],
  KeyMissing: ['False', 'A Secret lacks a key.', 'Add the key that the message names to the Secret.'],
  Malformed: ['False', 'What a Secret holds under a key cannot be read as PEM.', REISSUE],
  KeyMismatch: ['False', 'A private key does not belong to its certificate.', REISSUE],
  NotTrusted: [
    'False',
    'A certificate is not signed by the authority that the other side trusts.',
    'Issue the certificate with that authority, or put the right authority beside it.',
  ],
  Expired: ['False', 'A certificate has expired.', REISSUE],
  NotYetValid: ['False', 'A certificate is not valid yet.', REISSUE],
  WrongNames: [
    'False',
    'A certificate lacks names by which the members are reached.',
    'Issue it again with the names that the message lists.',
  ],
  WrongUsage: [
    'False',
    'The extended key usage of a certificate does not allow what it is needed for.',
    'Issue it again: servers need server auth, clients client auth, peers both.',
  ],
  NameTaken: [
    'False',
    'A Secret or Certificate of a name that the operator needs for its own certificates belongs to something else.',
    'Remove or rename what the message names.',
  ],
  AuthorityLost: [
    'False',
    'An authority of TLS.auto is gone: the certificates that are there work on, and cannot be renewed.',
    'Put the Secret that the message names back from a backup.',
  ],
  Unsupported: [
    'False',
    'A key or a signature is of a kind that etcd, or the Go that it is built with, refuses: SHA-1, RSA keys below 1024 bits, curves other than those of NIST, DSA.',
    REISSUE,
  ],
  AuthorityExchanged: [
    'False',
    'A certificate is signed by an authority that running members do not trust: they read authorities only when they start. New connections fail. Nothing is restarted, added or signed meanwhile.',
    'Put back what the message names, and bring the new authority to the members first; or hibernate the cluster and wake it.',
  ],
  AuthorityRollingOut: [
    'True',
    'The authorities in a Secret are not those that every member has read: members are restarted, one at a time.',
    'Nothing; let no new authority sign anything before this has ended.',
  ],
  NextNamesMissing: [
    'True',
    'Certificates list the members by name, and not the one that comes next: a member that is lost is not replaced, and no backup is restored, before they do.',
    'Issue them with the names that the message lists, or with a wildcard for all members.',
  ],
  IssuerChanged: [
    'True',
    'spec.TLS.certManager names another issuer than the certificates have. It is not asked while members run, which would not trust its authority.',
    'Hibernate the cluster and wake it when TLSReady is True; or write the issuer into the Certificates yourself when its authority is the same; or name the former issuer again.',
  ],
  ClocksDiffer: [
    'Unknown',
    "Certificates are due, and the clock of the operator's machine differs from the API server's by more than an hour: nothing is issued or renewed by a time that is in doubt.",
    'Set the clocks of the machine on which the operator runs, and of those of the API server.',
  ],
  ModeSwitched: [
    'False',
    'spec.TLS asks for another mode than the living cluster has; nothing is changed.',
    'Write the old mode again; to switch, make a new cluster and restore a backup into it.',
  ],
});

/** Does the operator lack its workflow engine? */
const TEMPORAL_UNAVAILABLE = rows('TemporalUnavailable', {
  Unreachable: [
    'True',
    'The operator cannot reach Temporal: members go on running, nothing is changed or repaired.',
    'Bring Temporal back; the operator retries by itself.',
  ],
  Reachable: ['False', 'The operator reaches Temporal.', ''],
});

/** Does the workflow of the resource fail over and over? Kept by the watcher. */
const WORKFLOW_STUCK = rows('WorkflowStuck', {
  WorkflowTaskFailing: [
    'True',
    "The resource's workflow cannot go on: its code and its history do not agree, or it fails in another way.",
    'Look at the workflow in the Temporal UI; reset it, or terminate it: it starts again from what is observed.',
  ],
  WorkflowTasksSucceed: ['False', 'The workflow goes on.', ''],
});

/** Has no pass of the resource succeeded for a minute? Kept by the watcher. */
const PASS_FAILING = rows('PassFailing', {
  PassFails: [
    'True',
    'Passes are made and fail, so what status says was not observed lately.',
    'Read the error in the message and remove its cause: a right that is missing, a webhook or quota that refuses, a server that does not answer.',
  ],
  TasksNotCompleted: [
    'True',
    "No worker of the operator completes the tasks of the resource's workflow.",
    "Look whether the operator's pods run and have processor time, and at their logs; also at the condition WorkflowStuck.",
  ],
  TemporalUnreachable: [
    'Unknown',
    'Temporal cannot be asked whether passes are made.',
    'See the condition TemporalUnavailable.',
  ],
  PassesSucceed: ['False', 'Passes succeed.', ''],
});

/** Did the backup or restore succeed? */
const SUCCEEDED = rows('Succeeded', {
  NotActedOnYet: [
    'False',
    'This release knows the kind and does not carry it out.',
    'Use a release that does.',
  ],
  BackupVerified: ['True', 'The last backup is in the store and verified.', ''],
  BackupNotVerified: [
    'False',
    'The last backup is in the store, and its verification has shown that it is not to be trusted.',
    'Read the message; do not restore it. Have another taken, and look at the store and the members if it happens again.',
  ],
  RestoreVerified: [
    'True',
    'The restored cluster has quorum, its size and its revision, read through every member.',
    '',
  ],
  Pending: ['Unknown', 'The work has not ended yet.', WAIT],
  Refused: ['False', 'The restore is refused and was not begun.', 'See condition Accepted.'],
  Failed: ['False', 'The work failed.', 'Read the message.'],
});

/** Is the schedule understood? */
const SCHEDULE_VALID = rows('ScheduleValid', {
  Valid: ['True', 'The schedule and its time zone are understood.', ''],
  Malformed: [
    'False',
    'The cron expression or the time zone is not understood; nothing runs.',
    'Read the message and correct spec.backupPolicy.',
  ],
  Suspended: ['True', 'The schedule is suspended as asked.', 'Set spec.backupPolicy.suspend to false.'],
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
