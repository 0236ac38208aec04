/**
 * A backup that the operator asks an EtcdBackup of the cluster for, before it does what has no other way back. The EtcdBackup makes it as one of
 * its own runs; a run that began after the question is the answer. Pure.
 */
import { isAhead, parseTimestamp } from '../../api/values/time.ts';
import { type BackupOfCluster, latestBackup } from '../model/backups-of-cluster.ts';

/** A backup may be so old; what was answered badly, or not at all, is asked again after as long. */
const FRESH_MS = 3_600_000;
/** What a run may take beyond its limit until it has begun and ended. */
const GRACE_MS = 120_000;

/** Whether a run that began since the question has ended. One that a clock that was ahead has dated has not. */
export function hasAnswered(
  { asked, lastRun }: Pick<BackupOfCluster, 'lastRun'> & { asked: string },
  now: number,
): boolean {
  return isSince(lastRun?.startedAt, parseTimestamp(asked) ?? 0, now);
}

/** Whether it is of that time or later, and not of a clock that is ahead. */
export function isSince(time: string | undefined, since: number, now: number): boolean {
  const at = parseTimestamp(time);
  return at !== undefined && at >= since && !isAhead(at, now);
}

/** Whether it was taken within the last hour. */
export function isRecent(time: string, now: number): boolean {
  return isSince(time, now - FRESH_MS + 1, now);
}

/** Before what the backup is to be made. */
interface Purpose {
  /** Such as `the upgrade`, for users. */
  readonly before: string;
  /** Milliseconds since the epoch: what was asked earlier was asked of another cluster of this name, or for something else. */
  readonly since: number;
}

/** Which EtcdBackup is asked: the one that was asked already, else the one with the newest backup, else the first by name. */
export function backupToAsk(
  backups: readonly BackupOfCluster[],
  now: number,
  purpose: Purpose,
): BackupOfCluster | undefined {
  const staying = backups
    .filter(({ deleting }) => deleting !== true)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return (
    staying.find(backup => answerOf(backup, now, purpose).kind !== 'none') ??
    latestBackup(staying) ??
    staying[0]
  );
}

export type Answer =
  /** `none`: nothing was asked, or so long ago that it is to be asked again. */
  { readonly kind: 'none' | 'waiting' | 'good' } | { readonly kind: 'bad'; readonly fault: string };

/** What has become of the last question. */
export function answerOf(
  { name, asked, lastRun, newest, timeoutSeconds }: BackupOfCluster,
  now: number,
  { before, since }: Purpose,
): Answer {
  const askedAt = parseTimestamp(asked);
  if (asked === undefined || askedAt === undefined || askedAt < since) return { kind: 'none' };
  const patienceMs = timeoutSeconds * 1_000 + GRACE_MS;
  if (now - askedAt >= patienceMs + FRESH_MS) return { kind: 'none' };
  if (!hasAnswered({ asked, lastRun }, now)) {
    return now - askedAt <= patienceMs
      ? { kind: 'waiting' }
      : bad(
          `EtcdBackup ${name} was asked for a backup before ${before} at ${asked} and has not made one: see its status`,
        );
  }
  if (isSince(newest?.time, askedAt, now)) return { kind: 'good' };
  const { outcome = 'Failed', message = 'no reason was given', completedAt = asked } = lastRun ?? {};
  if (!isRecent(completedAt, now)) return { kind: 'none' };
  const why =
    outcome === 'Succeeded'
      ? 'its backup is not a verified backup of this cluster'
      : `${outcome}: ${message}`;
  return bad(`EtcdBackup ${name} did not make the backup before ${before}: ${why}`);
}

function bad(fault: string): Answer {
  return { kind: 'bad', fault };
}
