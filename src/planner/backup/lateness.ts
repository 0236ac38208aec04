/** Whether the backup that a schedule awaits is late: not begun, or not finished, by when it should have. Pure. */
import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { stamped, withCondition } from '../../api/conditions/stamped.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import type { EtcdBackupStatus } from '../../api/schemas/types.ts';
import type { BackupDecision, BackupObservation } from './observation.ts';
import { jitterOf, scheduled } from './plan.ts';
import { beginsAt } from './schedule.ts';

/** A backup begins when it is due. What keeps it from that for so long is no matter of a queue or of a restart of the operator. */
const BEGINS_WITHIN_MS = 15 * 60_000;

/** In milliseconds since the epoch. */
export interface Due {
  /** When it was, or is, to begin: the time of the schedule and the delay of this EtcdBackup. */
  readonly at: number;
  readonly beginsBy: number;
  readonly endsBy: number;
}

/** When the backup is due that is awaited, or else the next one; undefined: none is. */
export function dueOf(observation: BackupObservation): Due | undefined {
  const at = awaitedAt(observation);
  if (at === undefined) return undefined;
  const time = observation.backup.config.timeoutSeconds * 1_000;
  return { at, beginsBy: at + Math.min(time, BEGINS_WITHIN_MS), endsBy: at + time };
}

function awaitedAt(observation: BackupObservation): number | undefined {
  const { status, config } = observation.backup;
  const { schedule: rule, suspended } = config;
  if (suspended || rule.kind === 'once') return undefined;
  const { progress, schedule } = status;
  // Of one that failed the time is still to be made up for.
  const failed = schedule?.retryAt === undefined ? undefined : schedule.lastTime;
  const time = parseTimestamp(progress?.scheduledFor ?? failed);
  if (time !== undefined) return beginsAt(rule, time, jitterOf(observation));
  const next = scheduled(observation);
  if (next.at === undefined || next.kind === 'later') return next.at;
  const last = parseTimestamp(schedule?.lastTime);
  // An interval that was not kept counts from when it ends, however long ago that is.
  if (rule.kind === 'interval') return last === undefined ? next.at : last + rule.seconds * 1_000;
  return beginsAt(rule, next.at, jitterOf(observation));
}

/** What the condition OnSchedule says; undefined where there is no schedule, or it is suspended. */
export function lateness(observation: BackupObservation): ConditionFinding | undefined {
  const due = dueOf(observation);
  if (due === undefined) return undefined;
  const { progress, lastRun, schedule } = observation.backup.status;
  const isBegun = progress?.scheduledFor !== undefined && progress.waiting !== true;
  const { now } = observation;
  const failed = schedule?.retryAt === undefined ? undefined : lastRun?.message;
  const why = progress?.message ?? failed;
  const because = why === undefined ? '' : `: ${why}`;
  const what = `the backup that was due at ${timestamp(due.at)}`;
  if (now > due.endsBy)
    return finding(
      'OnSchedule',
      'BackupNotFinished',
      `${what} should have been finished by ${timestamp(due.endsBy)}${because}`,
    );
  if (now > due.beginsBy && !isBegun && failed === undefined)
    return finding(
      'OnSchedule',
      'BackupNotBegun',
      `${what} should have begun by ${timestamp(due.beginsBy)}${because}`,
    );
  return finding('OnSchedule', 'OnTime');
}

/** The decision, with a pass when the backup would be late: that is reported when it happens. */
export function lookInTime(decision: BackupDecision, observation: BackupObservation): BackupDecision {
  const seconds = 'nextPassSeconds' in decision ? secondsUntilLate(observation) : undefined;
  if (seconds === undefined || !('nextPassSeconds' in decision)) return decision;
  return { ...decision, nextPassSeconds: Math.min(decision.nextPassSeconds, seconds) };
}

/** Until it would be late, or later still; undefined: no such moment is ahead. */
function secondsUntilLate(observation: BackupObservation): number | undefined {
  const due = dueOf(observation);
  const ahead = [due?.beginsBy, due?.endsBy].filter(at => at !== undefined && at >= observation.now);
  const [first] = ahead as number[];
  return first === undefined ? undefined : Math.floor((first - observation.now) / 1_000) + 1;
}

/** A status that is written while a run goes on or waits, with what it means for the schedule. */
export function withLateness(observation: BackupObservation, status: EtcdBackupStatus): EtcdBackupStatus {
  const { backup, now } = observation;
  const found = lateness({ ...observation, backup: { ...backup, status } });
  if (found === undefined) return status;
  const stamp = { now: timestamp(now), generation: backup.generation };
  const condition = stamped(found, status.conditions, stamp);
  return { ...status, conditions: withCondition(status.conditions, condition) };
}
