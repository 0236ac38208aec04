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
  /** Is each backup that is kept in the second store, too? Only where spec.secondStore names one. */
  Copied: {
    True: { AllCopied: ['Every backup that is kept is in the second store, with the same bytes.'] },
    False: {
      Copying: ['Backups are being copied to the second store.', WAIT],
      SecondStoreInvalid: [
        'The second store is not specified correctly. Backups go on without copies.',
        'Read the message and correct spec.secondStore.',
      ],
      SecondStoreUnavailable: [
        'The second store does not answer, or breaks off. Backups go on, and copies are tried again.',
        'See whether the second store can be reached. Nothing else needs doing: what is missing there is copied later.',
      ],
      SecondStoreRefuses: [
        'The second store refuses: credentials, permissions, or a bucket that does not exist. Backups go on without copies.',
        'Read the message and correct spec.secondStore, its Secret, or the account.',
      ],
      SecondStoreFull: [
        'The second store is full. Backups go on without copies.',
        'Free space there, raise the quota, or keep fewer backups.',
      ],
      ObjectDiffers: [
        'The second store has an object with the name of a backup and other bytes. It is not overwritten, and not taken for the backup.',
        'Move that object away, or name another path in spec.secondStore.',
      ],
      FirstStoreUnreadable: [
        'Backups cannot be read from the first store, so they cannot be copied. Those that are in the second store are kept there.',
        'Read the message and see to the first store. If it is lost, restore from the second one, and name another first store.',
      ],
    },
    Unknown: { NotLookedAt: ['The second store was not looked at yet.', WAIT] },
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
