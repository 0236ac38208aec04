/** When a backup of a schedule that failed is tried again, before the schedule asks for the next one. Pure. */
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { type Backoff, backoffMs } from '../../api/values/backoff.ts';
import type { BackupRun, EtcdBackupStatus } from '../../api/schemas/types.ts';
import { HOUR, MINUTE } from './calendar.ts';

/** What is not fixed within an hour is not fixed sooner by asking more often. */
const RETRY: Backoff = { firstMs: MINUTE, maxMs: HOUR };

type Schedule = NonNullable<EtcdBackupStatus['schedule']>;
/** What a schedule knows of its failures: how many in a row, and when the next try is due. */
type Failures = Pick<Schedule, 'failures' | 'retryAt'>;

/** What of the last pass is known of the run that continues, or that has just ended without a backup. */
export interface RunOfSchedule {
  readonly scheduledFor?: string | undefined;
  /** Undefined: it continues. */
  readonly outcome?: BackupRun['outcome'];
  /** Its object is in the store: another try would leave another one. */
  readonly written?: boolean | undefined;
}

/** What the schedule knows after a pass. A success forgets the failures: {@link withoutFailures}. */
export function failuresOf(
  { failures, retryAt }: Failures,
  run: RunOfSchedule | undefined,
  now: number,
): Failures {
  const count = failures === undefined ? {} : { failures };
  const kept = { ...count, ...(retryAt !== undefined && { retryAt }) };
  // What a person asked for beside the schedule changes nothing about it, unless it succeeds.
  if (run?.scheduledFor === undefined) return kept;
  if (run.outcome === undefined) return count;
  if (run.outcome !== 'Failed' || run.written === true) return {};
  const inARow = (failures ?? 0) + 1;
  return { failures: inARow, retryAt: timestamp(now + backoffMs(RETRY, inARow)) };
}

/** The schedule after a backup that succeeded, however it was requested. */
export function withoutFailures(schedule: Schedule): Schedule {
  const { failures: _, retryAt: __, ...rest } = schedule;
  return rest;
}

/** A try that is due at `at`, for that time of the schedule. */
export interface Retry {
  readonly at: number;
  readonly scheduledFor: string;
}

/**
 * The next try of a backup that failed; undefined when none did. It is due at once when the specification has changed since: that
 * may have fixed it.
 */
export function retryOf(status: EtcdBackupStatus, generation: number): Retry | undefined {
  const { schedule, lastRun } = status;
  const at = parseTimestamp(schedule?.retryAt);
  if (at === undefined) return undefined;
  const isEdited = lastRun?.generation !== undefined && lastRun.generation !== generation;
  const ended = parseTimestamp(lastRun?.completedAt) ?? at;
  return { at: isEdited ? Math.min(ended, at) : at, scheduledFor: schedule?.lastTime ?? timestamp(at) };
}
