/**
 * When a cron expression comes due on the wall clock of a time zone. A time that the clock is set forward over comes
 * as much later as the clock was moved; one that it is set back over comes once, at its first passage. Expressions
 * of every hour follow real time instead: the hour that is skipped is skipped, the hour that is repeated counts twice.
 */
import type { CronFields } from '../../api/values/cron.ts';
import { DAY, dateOf, HOUR, MINUTE, momentsOf, offsetAt, wallClock, weekdayOf } from './calendar.ts';

/** Longer than any expression waits: 29 February, over a century that has none in its last year. */
const FARTHEST_DAYS = 8 * 366 + 7;

export interface CronSchedule {
  readonly fields: CronFields;
  readonly timeZone: string;
}

/** The first time after `at`; undefined when it never comes. */
export function firstAfter(schedule: CronSchedule, at: number): number | undefined {
  // A day earlier than the clock says: what was moved over midnight belongs to the day before.
  const today = dayOf(at, schedule) - 1;
  for (let day = today; day < today + FARTHEST_DAYS; day += 1) {
    const found = timesOf(day, schedule).find(time => time > at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The last time that is not after `at`; undefined when there was none. */
export function lastUntil(schedule: CronSchedule, at: number): number | undefined {
  const today = dayOf(at, schedule) + 1;
  for (let day = today; day > today - FARTHEST_DAYS; day -= 1) {
    const found = timesOf(day, schedule).findLast(time => time <= at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function dayOf(at: number, { timeZone }: CronSchedule): number {
  return Math.floor(wallClock(at, timeZone) / DAY);
}

/** The times of one day of the wall clock, in order. */
function timesOf(day: number, { fields, timeZone }: CronSchedule): readonly number[] {
  if (!matches(day, fields)) return [];
  const walls = [...fields.hours].flatMap(hour =>
    [...fields.minutes].map(minute => day * DAY + hour * HOUR + minute * MINUTE),
  );
  const before = offsetAt(day * DAY - DAY, timeZone);
  const isPlain = before === offsetAt(day * DAY + 2 * DAY, timeZone);
  const times = isPlain
    ? walls.map(wall => wall - before)
    : walls.flatMap(wall => ofUnevenDay(wall, { timeZone, before, everyHour: fields.everyHour }));
  return [...new Set(times)].sort((a, b) => a - b);
}

interface UnevenDay {
  readonly timeZone: string;
  /** The offset before the clock was set. */
  readonly before: number;
  readonly everyHour: boolean;
}

function ofUnevenDay(wall: number, { timeZone, before, everyHour }: UnevenDay): readonly number[] {
  const moments = momentsOf(wall, timeZone);
  if (everyHour) return moments;
  return moments.length === 0 ? [wall - before] : moments.slice(0, 1);
}

function matches(day: number, { days, months, weekdays, eitherDay }: CronFields): boolean {
  const date = dateOf(day);
  if (!months.has(date.month)) return false;
  const byDate = days.has(date.day);
  const byWeekday = weekdays.has(weekdayOf(day));
  return eitherDay ? byDate || byWeekday : byDate && byWeekday;
}
