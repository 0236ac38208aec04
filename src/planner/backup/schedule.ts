/** When a backup is due. Pure: what was missed is made up for by exactly one backup, whatever time has passed. */
import { parseCron, timeZoneFault } from '../../api/values/cron.ts';
import type { BackupSchedule } from '../../api/defaults/etcd-backup.ts';
import { type CronSchedule, firstAfter, lastUntil } from './cron-times.ts';
import { delayOf, type Jitter, NO_JITTER } from './jitter.ts';

type Cron = Extract<BackupSchedule, { kind: 'cron' }>;

/** What has been done by schedule, in milliseconds since the epoch. */
export interface ScheduleState {
  readonly now: number;
  /** The time of the schedule that the last backup of it was taken for; undefined before the first. */
  readonly last: number | undefined;
  /** Since when the schedule is as it is: what it would have asked for earlier is not made up for. */
  readonly since: number;
  /** How much later than a cron expression says a backup begins. */
  readonly jitter?: Jitter;
}

/** `due`: a backup is to be begun, for that time of the schedule. `later`: when the next one begins; undefined: there will be none. */
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

function nextOfCron(cron: Cron, { now, last, since, jitter = NO_JITTER }: ScheduleState): NextBackup {
  const schedule = readable(cron);
  // What is wrong is said in ScheduleValid; until it is put right the schedule asks for nothing.
  if (schedule === undefined) return { kind: 'later', at: undefined };
  const done = Math.min(now, Math.max(last ?? since, since));
  const latest = lastUntil(schedule, now);
  const isAhead = latest !== undefined && delayed(schedule, latest, jitter) > now;
  // One begins before the schedule comes round again, so the one before the latest has begun long since.
  const missed = isAhead ? lastUntil(schedule, latest - 1) : latest;
  if (missed !== undefined && missed > done) return { kind: 'due', at: missed };
  const next = isAhead && latest > done ? latest : firstAfter(schedule, now);
  return { kind: 'later', at: next && delayed(schedule, next, jitter) };
}

/** When a backup of this time of the schedule begins: other schedules than cron have no delay. */
export function beginsAt(schedule: BackupSchedule, time: number, jitter: Jitter): number {
  const cron = schedule.kind === 'cron' ? readable(schedule) : undefined;
  return cron === undefined ? time : delayed(cron, time, jitter);
}

function delayed(schedule: CronSchedule, time: number, jitter: Jitter): number {
  if (jitter.mostMs === 0) return time;
  const next = firstAfter(schedule, time) ?? Number.POSITIVE_INFINITY;
  return time + delayOf(jitter, next - time);
}

/** A schedule by cron as it is computed with; undefined when it has a fault, which its resource reports. */
export function readable({ expression, timeZone }: Omit<Cron, 'kind'>): CronSchedule | undefined {
  const fields = parseCron(expression);
  return fields === undefined || timeZoneFault(timeZone) !== undefined ? undefined : { fields, timeZone };
}
