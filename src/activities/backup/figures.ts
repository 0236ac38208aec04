/** What a pass of an EtcdBackup came to, in numbers, for whoever counts: metrics are fed from it. */
import { parseTimestamp } from '../../api/time.ts';
import type { EtcdBackupStatus } from '../../api/types.ts';
import type { BackupRef } from './resource.ts';

export interface BackupReport {
  readonly backup: BackupRef;
  /** Undefined: the resource is gone. */
  readonly figures: BackupFigures | undefined;
  /** A run that ended with this write; undefined when none did. */
  readonly ended: { readonly outcome: string; readonly seconds: number | undefined } | undefined;
}

export interface BackupFigures {
  /** Seconds since the epoch; undefined before the first. */
  readonly lastSuccess: number | undefined;
  /** Bytes of the newest object. */
  readonly size: number | undefined;
  /** Objects that are kept. */
  readonly kept: number;
}

/** The figures of one write of a status. */
export function backupReport(
  backup: BackupRef,
  before: EtcdBackupStatus,
  after: EtcdBackupStatus,
): BackupReport {
  const { lastRun, lastSuccessDate, history = [] } = after;
  const success = parseTimestamp(lastSuccessDate ?? undefined);
  const isNew = lastRun?.startedAt !== undefined && lastRun.startedAt !== before.lastRun?.startedAt;
  return {
    backup,
    figures: {
      lastSuccess: success === undefined ? undefined : success / 1000,
      size: history[0]?.size,
      kept: history.length,
    },
    ended: isNew ? { outcome: lastRun.outcome ?? 'Failed', seconds: secondsOf(lastRun) } : undefined,
  };
}

function secondsOf({ startedAt, completedAt }: NonNullable<EtcdBackupStatus['lastRun']>): number | undefined {
  const [begun, done] = [parseTimestamp(startedAt), parseTimestamp(completedAt)];
  return begun === undefined || done === undefined ? undefined : (done - begun) / 1000;
}
