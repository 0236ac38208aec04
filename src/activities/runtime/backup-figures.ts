/** What a run of an EtcdBackup came to, in numbers: metrics are fed from it. */
import { parseTimestamp } from '../../api/values/time.ts';
import type { EtcdBackupStatus } from '../../api/schemas/types.ts';

/** A run that has ended. */
export interface BackupReport {
  readonly outcome: string;
  readonly seconds: number | undefined;
}

/** The run that ended with a write of the status; undefined when none did. */
export function endedRun(before: EtcdBackupStatus, after: EtcdBackupStatus): BackupReport | undefined {
  const { lastRun } = after;
  if (lastRun?.startedAt === undefined || lastRun.startedAt === before.lastRun?.startedAt) return undefined;
  return { outcome: lastRun.outcome ?? 'Failed', seconds: secondsOf(lastRun) };
}

function secondsOf({ startedAt, completedAt }: NonNullable<EtcdBackupStatus['lastRun']>): number | undefined {
  const [begun, done] = [parseTimestamp(startedAt), parseTimestamp(completedAt)];
  return begun === undefined || done === undefined ? undefined : (done - begun) / 1000;
}
