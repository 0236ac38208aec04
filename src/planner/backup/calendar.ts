/** Wall clocks of time zones. Pure: it converts, it never asks what time it is. All times in milliseconds since the epoch. */

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the wall clock of the zone is ahead of UTC at `at`. Throws a RangeError for a name that is no time zone. */
export function offsetAt(at: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const whole = Math.floor(at / 1000) * 1000;
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(whole)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
  const clock = parts.hour * HOUR + parts.minute * MINUTE + parts.second * 1000;
  return dayNumber(parts) * DAY + clock - whole;
}

/** What the wall clock shows, as if it were UTC. */
export function wallClock(at: number, timeZone: string): number {
  return at + offsetAt(at, timeZone);
}

/**
 * The moments at which the wall clock shows `wall` (as {@link wallClock} answers it): one, two when the clock was set back
 * over it, none when it was set forward over it.
 */
export function momentsOf(wall: number, timeZone: string): readonly number[] {
  const offsets = new Set([offsetAt(wall - DAY, timeZone), offsetAt(wall + DAY, timeZone)]);
  return [...offsets]
    .map(offset => wall - offset)
    .filter(at => wallClock(at, timeZone) === wall)
    .toSorted((a, b) => a - b);
}

export type CivilDate = { readonly year: number; readonly month: number; readonly day: number };

/** Days since 1 January 1970 in the Gregorian calendar; months from 1. */
export function dayNumber({ year, month, day }: CivilDate): number {
  // Years that begin in March put the leap day last (Hinnant, "chrono-compatible low-level date algorithms").
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The date of a day number: the inverse of {@link dayNumber}. */
export function dateOf(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const part = Math.floor((5 * dayOfYear + 2) / 153);
  const month = part + (part < 10 ? 3 : -9);
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * part + 2) / 5) + 1,
  };
}

/** 0 is Sunday. */
export function weekdayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, made);
  return made;
}
