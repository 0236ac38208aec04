/** Backups of one schedule begin at times of their own, each always at the same, and none is passed over. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delayOf, placeOf } from '../../../src/planner/backup/jitter.ts';
import { nextBackup } from '../../../src/planner/backup/schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NIGHTLY = { kind: 'cron', expression: '0 2 * * *', timeZone: 'UTC' } as const;
const at = (text: string) => Date.parse(`2026-11-${text}Z`);
/** As the API server makes them. */
const UIDS = Array.from({ length: 10_000 }, (_, index) => {
  const hex = (index * 2654435761).toString(16).padStart(12, '0').slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4000-8000-${index.toString(16).padStart(12, '0')}`;
});

describe('the delays of ten thousand', () => {
  it('are spread evenly: no minute of the hour has many more than its share', () => {
    const minutes = Array<number>(60).fill(0);
    for (const uid of UIDS) {
      const delay = delayOf({ mostMs: HOUR, place: placeOf(uid) }, 24 * HOUR);
      expect(delay).toBeLessThan(HOUR);
      minutes[Math.floor(delay / MINUTE)] = (minutes[Math.floor(delay / MINUTE)] ?? 0) + 1;
    }
    expect(Math.max(...minutes)).toBeLessThan((10_000 / 60) * 1.4);
    expect(Math.min(...minutes)).toBeGreaterThan((10_000 / 60) * 0.6);
  });

  it('are whole seconds, so that the status says exactly when a backup begins', () => {
    expect(UIDS.every(uid => delayOf({ mostMs: HOUR, place: placeOf(uid) }, HOUR) % 1_000 === 0)).toBe(true);
  });
});

describe('a backup with a delay', () => {
  const jitter = { mostMs: HOUR, place: 0.5 };
  const since = at('01T00:00:00');
  const last = at('20T02:00:00');

  it('is due when the delay is over, for the time of the schedule', () => {
    expect(nextBackup(NIGHTLY, { now: at('21T02:29:59'), last, since, jitter })).toEqual({
      kind: 'later',
      at: at('21T02:30:00'),
    });
    expect(nextBackup(NIGHTLY, { now: at('21T02:30:00'), last, since, jitter })).toEqual({
      kind: 'due',
      at: at('21T02:00:00'),
    });
  });

  it('is not made twice when the delay grows after it', () => {
    const now = at('21T02:10:00');
    const made = { now, last: at('21T02:00:00'), since, jitter };
    expect(nextBackup(NIGHTLY, made)).toEqual({ kind: 'later', at: at('22T02:30:00') });
  });

  it('is made up for once after a time away, also while the delay of the next one runs', () => {
    const away = { now: at('21T02:10:00'), last: at('17T02:00:00'), since, jitter };
    expect(nextBackup(NIGHTLY, away)).toEqual({ kind: 'due', at: at('20T02:00:00') });
    const after = { ...away, last: at('20T02:00:00') };
    expect(nextBackup(NIGHTLY, after)).toEqual({ kind: 'later', at: at('21T02:30:00') });
  });

  it('is not asked for by a schedule that was set after its time', () => {
    const state = { now: at('21T02:40:00'), last: undefined, since: at('21T02:10:00'), jitter };
    expect(nextBackup(NIGHTLY, state)).toEqual({ kind: 'later', at: at('22T02:30:00') });
  });

  it('never passes a time over and never makes one twice, however long the delay may be', () => {
    const schedule = { kind: 'cron', expression: '*/7 1-5 * * *', timeZone: 'Europe/Berlin' } as const;
    const place = fc.double({ min: 0, max: 0.999_999, noNaN: true });
    fc.assert(
      fc.property(place, fc.integer({ min: 0, max: 100 * HOUR }), (share, mostMs) => {
        const made: number[] = [];
        let now = at('20T22:00:00');
        const begun = now;
        for (let step = 0; step < 200 && now < begun + 12 * HOUR; step += 1) {
          const state = { now, last: made.at(-1), since: begun, jitter: { mostMs, place: share } };
          const next = nextBackup(schedule, state);
          if (next.kind === 'due') made.push(next.at);
          else now = next.at ?? Number.POSITIVE_INFINITY;
        }
        const gaps = made.slice(1).map((time, index) => time - (made[index] ?? 0));
        // Every seven minutes of each hour, and four from the last to the full hour.
        expect(gaps.every(gap => gap === 7 * MINUTE || gap === 4 * MINUTE)).toBe(true);
        // The last may be delayed until the night after.
        expect(made.length).toBeGreaterThanOrEqual(5 * 9 - 1);
      }),
      { numRuns: 10 },
    );
  });
});
