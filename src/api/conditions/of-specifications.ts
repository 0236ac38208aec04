/** The conditions that judge what was asked for, and those of backups and restores. Pure data; see catalogue.ts. */
import { OBSTACLES } from '../obstacles/catalogue.ts';
import { TLS_OBSTACLES } from '../obstacles/of-certificates.ts';
import { WAIT } from '../obstacles/rows.ts';
import type { ConditionTable } from './table.ts';

export const SPEC_CONDITIONS = {
  /** Does this operator run that version of etcd? */
  VersionSupported: {
    True: {
      Supported: ['This operator supports this etcd version.'],
      NewerThanKnown: ['The minor is supported; the patch release is newer than this operator.'],
    },
    False: {
      TooOld: [
        'The version is out of support; nothing is created or changed for it.',
        'Set spec.version to a supported one.',
      ],
      TooNew: [
        'This operator does not know the minor version; nothing is created or changed for it.',
        'Set spec.version to a supported one, or upgrade the operator.',
      ],
      Malformed: ['The version is not of the form x.y.z.', 'Set spec.version to a release of etcd.'],
    },
  },
  /** Is something known against that version? */
  VersionOutdated: {
    True: {
      BelowDataLossFloor: [
        'The version has a known bug that can lose data or a member.',
        'Upgrade to the version that the message names.',
      ],
      BelowSecurityFloor: [
        'The version has a known vulnerability.',
        'Upgrade to the version that the message names.',
      ],
    },
    False: { UpToDate: ['The version has no known problem.'] },
  },
  /** Can the specification be carried out? */
  SpecValid: {
    True: { Valid: ['The specification is valid.'] },
    False: {
      Invalid: [
        'The specification contradicts itself or etcd; nothing is changed for it.',
        'Read the message, which names the fields.',
      ],
    },
  },
  /** Is something asked for that is not done? */
  FieldsIgnored: {
    True: {
      SomeIgnored: [
        'Fields are set that are accepted but have no effect; the message lists them.',
        'Remove them, or accept that they have no effect.',
      ],
    },
    False: { NoneIgnored: ['Every field that is set has an effect.'] },
  },
  /** Is something left out that a new cluster would be given another value for? */
  FieldsKept: {
    True: {
      SomeKept: [
        'Fields that the specification omits keep their previous value; the message lists them.',
        'Nothing, or write the value that you want.',
      ],
    },
  },
  /** Is the size one that costs a member without gaining anything? */
  EvenSize: {
    True: {
      NoExtraTolerance: [
        'An even number of members tolerates no more failures than one less.',
        'Prefer 1, 3, 5 or 7.',
      ],
    },
    False: { OddSize: ['The size is odd.'] },
  },
  /** May the volume become full? */
  StorageTight: {
    True: {
      VolumeTooSmall: [
        'The volume is smaller than three times the quota and 2Gi: defragmentation and snapshots may fill it.',
        'Expand the volume or lower spec.etcd.quotaBackendBytes.',
      ],
    },
    False: { VolumeLargeEnough: ['The volume has space for quota, log and defragmentation.'] },
  },
  /** Can the cluster be secured as asked? */
  TLSSupported: {
    True: { Supported: ['The TLS settings are valid.'] },
    False: { SeveralModes: ['More than one of static, auto and certManager is set.', 'Keep one of them.'] },
  },
  /** Are the certificates good? Said only of clusters that ask for TLS. */
  TLSReady: {
    True: {
      Ready: ['Every certificate exists, matches its key, is trusted and is not about to expire.'],
      ExpiresSoon: [
        'A certificate expires soon: less than a fifth of its lifetime and less than 30 days are left, or less than a year of an authority of TLS.auto.',
        'Renew the certificate that the message names; etcd loads it without a restart. An authority of TLS.auto is not renewed: restore a backup into a new cluster in time.',
      ],
      SharedIssuer: [
        'The certificates are valid and come from a ClusterIssuer. Anyone in any namespace who gets a certificate from it can be a client of this etcd, with the name root its superuser, and with access to port 2380 a member.',
        'Name an Issuer of the namespace that signs for this cluster alone, and change to its authority as described in docs/operations/tls.md.',
      ],
      AuthorityRollingOut: [
        'The authorities in a Secret differ from those that the members have read: the operator restarts the members one at a time.',
        'Nothing; do not sign anything with a new authority until this has ended.',
      ],
      NextNamesMissing: [
        'Certificates list the members by name, but not the next one. Until they do, a lost member is not replaced, and no backup is restored.',
        'Issue them with the names that the message lists, or with a wildcard for all members.',
      ],
      IssuerChanged: OBSTACLES.IssuerChanged,
    },
    False: { ...TLS_OBSTACLES, NameTaken: OBSTACLES.NameTaken },
    Unknown: {
      ClocksDiffer: OBSTACLES.ClocksDiffer,
    },
  },
  /** Does the operator lack its workflow engine? */
  TemporalUnavailable: {
    True: {
      Unreachable: [
        'The operator cannot reach Temporal: members keep running, nothing is changed or repaired.',
        'Bring Temporal back; the operator retries automatically.',
      ],
    },
    False: { Reachable: ['The operator reaches Temporal.'] },
  },
  /** Does the workflow of the resource fail over and over? Kept by the watcher. */
  WorkflowStuck: {
    True: {
      WorkflowTaskFailing: [
        "The resource's workflow cannot continue: its code does not match its history, or it fails in another way.",
        'Inspect the workflow in the Temporal UI; reset it, or terminate it: it starts again from what the operator observes.',
      ],
    },
    False: { WorkflowTasksSucceed: ['The tasks of the workflow succeed.'] },
  },
  /** Has no pass of the resource succeeded for a minute? Kept by the watcher. */
  PassFailing: {
    True: {
      PassFails: [
        'Passes run and fail, so the status is not current.',
        'Read the error in the message and remove its cause: a missing permission, a webhook or quota that refuses, a server that does not answer.',
      ],
      TasksNotCompleted: [
        "No worker of the operator completes the tasks of the resource's workflow.",
        "Check whether the operator's pods run and have CPU time, their logs, and the condition WorkflowStuck.",
      ],
    },
    Unknown: {
      TemporalUnreachable: [
        'Temporal cannot be asked whether passes run.',
        'See the condition TemporalUnavailable.',
      ],
    },
    False: { PassesSucceed: ['Passes succeed.'] },
  },
  /** Did the backup or restore succeed? */
  Succeeded: {
    True: {
      BackupVerified: ['The last backup is in the store and verified.'],
      RestoreVerified: [
        'The restored cluster has quorum, its size and its revision, read through every member.',
      ],
    },
    False: {
      BackupNotVerified: [
        'The last backup is in the store, but its verification has found a fault.',
        'Read the message and do not restore this backup. Take another one, and check the store and the members if it happens again.',
      ],
      Refused: ['The restore is refused and has not started.', 'See condition Accepted.'],
      Failed: ['The work failed.', 'Read the message.'],
    },
    Unknown: { Pending: ['The work has not ended yet.', WAIT] },
  },
  /** Is the schedule understood? */
  ScheduleValid: {
    True: {
      Valid: ['The schedule and its time zone are valid.'],
      Suspended: ['The schedule is suspended as requested.', 'Set spec.backupPolicy.suspend to false.'],
    },
    False: {
      Malformed: [
        'The cron expression or the time zone is invalid; no backup runs.',
        'Read the message and correct spec.backupPolicy.',
      ],
    },
  },
} as const satisfies ConditionTable;
