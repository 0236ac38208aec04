/** Due or not: the first, the missed, the edited, the clock that moves. */
import { describe, expect, it } from 'vitest';
import { nextBackup } from '../../../src/planner/backup/schedule.ts';

const at = (text: string) => Date.parse(`2026-11-${text}Z`);
const HOURLY = { kind: 'interval', seconds: 3600 } as const;
const NIGHTLY = { kind: 'cron', expression: '30 2 * * *', timeZone: 'UTC' } as const;
const SINCE = at('01T00:00:00');

describe('an interval', () => {
  it('asks for the first at once', () => {
    const state = { now: at('21T10:00:00'), last: undefined, since: SINCE };
    expect(nextBackup(HOURLY, state)).toEqual({ kind: 'due', at: state.now });
  });

  it('asks for the next an interval after the last', () => {
    const last = at('21T10:00:00');
    expect(nextBackup(HOURLY, { now: at('21T10:59:59'), last, since: SINCE })).toEqual({
      kind: 'later',
      at: at('21T11:00:00'),
    });
    expect(nextBackup(HOURLY, { now: at('21T11:00:02'), last, since: SINCE })).toEqual({
      kind: 'due',
      at: at('21T11:00:00'),
    });
  });

  it('makes up for a day away once', () => {
    const now = at('22T10:17:00');
    const first = nextBackup(HOURLY, { now, last: at('21T10:00:00'), since: SINCE });
    expect(first).toEqual({ kind: 'due', at: now });
    expect(nextBackup(HOURLY, { now: now + 5_000, last: now, since: SINCE })).toEqual({
      kind: 'later',
      at: now + 3_600_000,
    });
  });

  it('is not put off by a clock that was a year ahead', () => {
    const now = at('21T10:00:00');
    expect(nextBackup(HOURLY, { now, last: now + 365 * 86_400_000, since: SINCE })).toEqual({
      kind: 'later',
      at: now + 3_600_000,
    });
  });
});

describe('a cron expression', () => {
  it('makes up for the newest of the missed times, once', () => {
    const state = { now: at('21T10:00:00'), last: at('17T02:30:00'), since: SINCE };
    const due = nextBackup(NIGHTLY, state);
    expect(due).toEqual({ kind: 'due', at: at('21T02:30:00') });
    expect(nextBackup(NIGHTLY, { ...state, last: due.at })).toEqual({
      kind: 'later',
      at: at('22T02:30:00'),
    });
  });

  it('does not make up for what an edited or resumed schedule would have asked for before', () => {
    const state = { now: at('21T10:00:00'), last: at('17T02:30:00'), since: at('21T09:00:00') };
    expect(nextBackup(NIGHTLY, state)).toEqual({ kind: 'later', at: at('22T02:30:00') });
  });

  it('waits for its first time', () => {
    const state = { now: at('21T10:00:00'), last: undefined, since: at('21T09:00:00') };
    expect(nextBackup(NIGHTLY, state)).toEqual({ kind: 'later', at: at('22T02:30:00') });
  });

  it('continues after a clock that was ahead', () => {
    const state = { now: at('21T10:00:00'), last: at('30T02:30:00'), since: SINCE };
    expect(nextBackup(NIGHTLY, state)).toEqual({ kind: 'later', at: at('22T02:30:00') });
  });
});

it('once is nothing that a schedule asks for', () => {
  expect(nextBackup({ kind: 'once' }, { now: 1, last: undefined, since: 0 })).toEqual({
    kind: 'later',
    at: undefined,
  });
});
