/** When a backup is due. Pure: what was missed is made up for by exactly one backup, whatever time has passed. */
import { parseCron, timeZoneFault } from '../../api/values/cron.ts';
import type { BackupSchedule } from '../../api/defaults/etcd-backup.ts';
import { firstAfter, lastUntil } from './cron-times.ts';

/** What has been done by schedule, in milliseconds since the epoch. */
export interface ScheduleState {
  readonly now: number;
  /** The time of the schedule that the last backup of it was taken for; undefined before the first. */
  readonly last: number | undefined;
  /** Since when the schedule is as it is: what it would have asked for earlier is not made up for. */
  readonly since: number;
}

/** `due`: a backup is to be begun, for that time of the schedule. `later`: the next one; undefined: there will be none. */
export type NextBackup =
  | { readonly kind: 'due'; readonly at: number }
  | { readonly kind: 'later'; readonly at: number | undefined };

/** What a schedule asks for; `once` asks for nothing here, it depends on what there is. */
export function nextBackup(schedule: BackupSchedule, state: ScheduleState): NextBackup {
  switch (schedule.kind) {
    case 'once':
      return { kind: 'later', at: undefined };
    case 'interval':
      return nextOfInterval(schedule.seconds * 1000, state);
    case 'cron':
      return nextOfCron(schedule, state);
  }
}

/** The first at once, then one an interval; after a time away the intervals count from the one that is made up for. */
function nextOfInterval(interval: number, { now, last }: ScheduleState): NextBackup {
  if (last === undefined) return { kind: 'due', at: now };
  // A clock that was set back must not put the next backup off by as much.
  const next = Math.min(last, now) + interval;
  if (next > now) return { kind: 'later', at: next };
  const isLate = now - next >= interval;
  return { kind: 'due', at: isLate ? now : next };
}

function nextOfCron(
  { expression, timeZone }: Extract<BackupSchedule, { kind: 'cron' }>,
  { now, last, since }: ScheduleState,
): NextBackup {
  const fields = parseCron(expression);
  // What is wrong is said in ScheduleValid; until it is put right the schedule asks for nothing.
  if (fields === undefined || timeZoneFault(timeZone) !== undefined) return { kind: 'later', at: undefined };
  const schedule = { fields, timeZone };
  const missed = lastUntil(schedule, now);
  const done = Math.min(now, Math.max(last ?? since, since));
  if (missed !== undefined && missed > done) return { kind: 'due', at: missed };
  return { kind: 'later', at: firstAfter(schedule, now) };
}
