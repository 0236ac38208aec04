/** The conditions of an EtcdBackup; Succeeded is also that of an EtcdRestore. Pure data; see catalogue.ts. */
import { WAIT } from '../obstacles/rows.ts';
import type { ConditionTable } from './table.ts';

export const BACKUP_CONDITIONS = {
  /** Did the backup or restore succeed? */
  Succeeded: {
    True: {
      BackupVerified: ['The last backup is in the store and verified.'],
      RecordedBefore: [
        'The operator that managed this EtcdBackup before recorded that it succeeded. This operator has not checked it.',
      ],
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
  /** Are backups begun and finished when they should be? */
  OnSchedule: {
    True: { OnTime: ['No backup of the schedule is late.'] },
    False: {
      BackupNotBegun: [
        'A backup of the schedule did not begin within fifteen minutes: it is paused, waits for its turn at the store, or the operator did not run.',
        'Read the message. If many wait for one store or node, spread them with jitterInSecond, or raise MAX_BACKUPS_PER_STORE or MAX_BACKUPS_PER_NODE.',
      ],
      BackupNotFinished: [
        'A backup of the schedule was not finished timeoutInSecond after it was due.',
        'Read the message, and remove what keeps the backup from being made.',
      ],
    },
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
