/** Cron times on wall clocks, also on the days when these are set. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCron } from '../../../src/api/values/cron.ts';
import { dateOf, dayNumber, momentsOf, offsetAt } from '../../../src/planner/backup/calendar.ts';
import { type CronSchedule, firstAfter, lastUntil } from '../../../src/planner/backup/cron-times.ts';

function cron(expression: string, timeZone = 'UTC'): CronSchedule {
  const fields = parseCron(expression);
  if (fields === undefined) throw new Error(`${expression} does not parse`);
  return { fields, timeZone };
}

function after(expression: string, timeZone: string, at: string): string {
  return new Date(firstAfter(cron(expression, timeZone), Date.parse(at)) ?? Number.NaN).toISOString();
}

describe('the calendar', () => {
  it('agrees with Date on every day of four centuries', () => {
    for (let day = -50_000; day < 100_000; day += 211) {
      const date = new Date(day * 86_400_000);
      const expected = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
      expect(dateOf(day)).toEqual(expected);
      expect(dayNumber(expected)).toBe(day);
    }
  });

  it('knows how far zones are ahead', () => {
    expect(offsetAt(Date.parse('2026-07-01T00:00:00Z'), 'Asia/Kolkata')).toBe(5.5 * 3_600_000);
    expect(offsetAt(Date.parse('2026-07-01T00:00:00Z'), 'America/New_York')).toBe(-4 * 3_600_000);
  });

  it('finds no moment in a gap and two in a repeated hour', () => {
    expect(momentsOf(Date.parse('2026-03-29T02:30:00Z'), 'Europe/Paris')).toEqual([]);
    expect(
      momentsOf(Date.parse('2026-10-25T02:30:00Z'), 'Europe/Paris').map(at => new Date(at).toISOString()),
    ).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']);
  });
});

describe('cron times', () => {
  it.each([
    ['30 2 * * *', 'UTC', '2026-11-21T02:30:00Z', '2026-11-22T02:30:00.000Z'],
    ['30 2 * * *', 'Europe/Paris', '2026-11-21T00:00:00Z', '2026-11-21T01:30:00.000Z'],
    ['*/15 * * * *', 'UTC', '2026-11-21T10:00:01Z', '2026-11-21T10:15:00.000Z'],
    ['0 0 1 * *', 'UTC', '2026-11-21T00:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['0 12 * * MON', 'UTC', '2026-11-21T00:00:00Z', '2026-11-23T12:00:00.000Z'],
    ['0 12 13 * FRI', 'UTC', '2026-11-21T00:00:00Z', '2026-11-27T12:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2026-11-21T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['@weekly', 'UTC', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['0 0 * * 7', 'UTC', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00.000Z'],
  ])('%s in %s after %s', (expression, timeZone, at, expected) => {
    expect(after(expression, timeZone, at)).toBe(expected);
  });

  it('moves a time that the clock skips, as far as the clock was moved', () => {
    expect(after('30 2 * * *', 'Europe/Paris', '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:30:00.000Z');
    expect(after('30 2 * * *', 'Europe/Paris', '2026-03-29T01:30:00Z')).toBe('2026-03-30T00:30:00.000Z');
  });

  it('takes a time that the clock repeats once', () => {
    expect(after('30 2 * * *', 'Europe/Paris', '2026-10-24T12:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(after('30 2 * * *', 'Europe/Paris', '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30:00.000Z');
  });

  it('follows real time when it is for every hour', () => {
    let at = Date.parse('2026-10-24T22:00:00Z');
    const end = Date.parse('2026-10-26T00:00:00Z');
    for (let count = 0; at < end; count += 1) {
      const next = firstAfter(cron('0 * * * *', 'Europe/Paris'), at) ?? 0;
      expect(next - at, `hour ${count}`).toBe(3_600_000);
      at = next;
    }
  });

  it('walks the same times forwards and backwards, without gaps', () => {
    const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'];
    const expressions = [
      '*/7 * * * *',
      '30 2 * * *',
      '15 1,2,3 * * *',
      '0 0 1 * *',
      '0 3 * * SUN',
      '5 0 * * *',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...expressions),
        fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2027-01-01T00:00:00Z') }),
        (zone, expression, at) => {
          const schedule = cron(expression, zone);
          const next = firstAfter(schedule, at) ?? Number.NaN;
          const previous = lastUntil(schedule, at) ?? Number.NaN;
          expect(next).toBeGreaterThan(at);
          expect(previous).toBeLessThanOrEqual(at);
          expect(lastUntil(schedule, next)).toBe(next);
          expect(lastUntil(schedule, next - 1)).toBe(previous);
          expect(firstAfter(schedule, previous)).toBe(next);
        },
      ),
      { numRuns: 150 },
    );
  });
});
