/** What is kept, over simulated years. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RetentionPolicy } from '../../../src/api/backup-defaults.ts';
import { type KeptBackup, toDelete } from '../../../src/planner/backup/retention.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:30:00Z');

const WORDS: readonly KeptBackup['verified'][] = ['Checksum', 'Structure', 'Restore', 'Checksum', ''];

function backup(time: number, verified: KeptBackup['verified'] = 'Checksum'): KeptBackup {
  return { location: `s3://b/k_v${time}`, time, verified };
}

function kept(all: readonly KeptBackup[], policy: RetentionPolicy, zone = 'UTC'): readonly KeptBackup[] {
  const gone = new Set(toDelete(all, policy, zone));
  return all.filter(each => !gone.has(each));
}

const tiers = (
  given: Partial<Omit<Extract<RetentionPolicy, { kind: 'tiers' }>, 'kind'>>,
): RetentionPolicy => ({
  kind: 'tiers',
  hourly: 0,
  daily: 0,
  weekly: 0,
  monthly: 0,
  ...given,
});

const iso = (all: readonly KeptBackup[]) => all.map(({ time }) => new Date(time).toISOString());

describe('by count', () => {
  it('keeps the newest by time, also when the revision gains a digit', () => {
    const named = [
      { location: 's3://b/k_v999_2026-01-01-00:00:00', time: START, verified: 'Checksum' as const },
      { location: 's3://b/k_v1000_2026-01-01-01:00:00', time: START + HOUR, verified: 'Checksum' as const },
    ];
    expect(toDelete(named, { kind: 'count', count: 1 }, 'UTC')).toEqual([named[0]]);
  });

  it('never deletes the newest that is verified', () => {
    const all = [backup(START), backup(START + HOUR, ''), backup(START + 2 * HOUR, '')];
    expect(kept(all, { kind: 'count', count: 1 })).toEqual([all[0], all[2]]);
  });

  it('never deletes the newest that was restored on the side, nor the newest that etcdutl has read', () => {
    const words = ['Restore', 'Structure', 'Restore', 'Structure', 'Checksum', ''] as const;
    const all = words.map((word, hour) => backup(START + hour * HOUR, word));
    expect(kept(all, { kind: 'count', count: 1 })).toEqual(all.slice(2));
  });

  it('all keeps all', () => {
    expect(toDelete([backup(START), backup(START + HOUR)], { kind: 'all' }, 'UTC')).toEqual([]);
  });
});

describe('by tiers', () => {
  it('keeps the newest of hours, days, weeks and months', () => {
    const hourly = Array.from({ length: 24 * 400 }, (_, hour) => backup(START + hour * HOUR));
    const left = kept(hourly, tiers({ hourly: 3, daily: 2, weekly: 2, monthly: 2 }));
    // The last one is of 2027-02-04, 23:30, a Thursday.
    expect(iso(left)).toEqual([
      '2027-01-31T23:30:00.000Z',
      '2027-02-03T23:30:00.000Z',
      '2027-02-04T21:30:00.000Z',
      '2027-02-04T22:30:00.000Z',
      '2027-02-04T23:30:00.000Z',
    ]);
  });

  it('lets days begin where the schedule lives', () => {
    const evening = backup(Date.parse('2026-06-01T21:30:00Z'));
    const night = backup(Date.parse('2026-06-01T22:30:00Z'));
    expect(kept([evening, night], tiers({ daily: 2 }), 'UTC')).toEqual([night]);
    expect(kept([evening, night], tiers({ daily: 2 }), 'Europe/Paris')).toEqual([evening, night]);
  });

  it('takes the hour that is repeated for two', () => {
    const twice = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map(text => backup(Date.parse(text)));
    expect(kept(twice, tiers({ hourly: 2 }), 'Europe/Paris')).toEqual(twice);
  });

  it('does not let time alone delete anything', () => {
    const old = [backup(START), backup(START + 24 * HOUR)];
    expect(kept(old, tiers({ daily: 2 }))).toEqual(old);
  });
});

describe('a year of backups, retention after each', () => {
  const zone = fc.constantFrom('UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe');
  const policy = fc.oneof(
    fc.record({ kind: fc.constant('count' as const), count: fc.integer({ min: 1, max: 30 }) }),
    fc.record({
      kind: fc.constant('tiers' as const),
      hourly: fc.integer({ min: 0, max: 24 }),
      daily: fc.integer({ min: 1, max: 14 }),
      weekly: fc.integer({ min: 0, max: 5 }),
      monthly: fc.integer({ min: 0, max: 12 }),
    }),
  );

  /** By schedule, with manual runs in between, times down, verifications that fail, and a clock that jumps. */
  function year(seed: readonly number[]): readonly KeptBackup[] {
    const all: KeptBackup[] = [];
    let now = START;
    for (let run = 0; now < START + 365 * 24 * HOUR; run += 1) {
      const dice = seed[run % seed.length] ?? 0;
      now += dice < 5 ? 9 * 24 * HOUR : 12 * HOUR;
      const clock = dice === 7 ? now - 2 * HOUR : now;
      all.push({ ...backup(clock, WORDS[dice % WORDS.length]), location: `s3://b/k_v${run}` });
      if (dice % 10 === 3) all.push({ ...backup(clock + 60_000), location: `s3://b/k_v${run}_manual` });
    }
    return all;
  }

  it('keeps what the policy says, and the end does not depend on when it was applied', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 30, maxLength: 60 }),
        policy,
        zone,
        (seed, rule, timeZone) => {
          let there: readonly KeptBackup[] = [];
          const all = year(seed);
          for (const each of all) {
            there = kept([...there, each], rule, timeZone);
            const newest = there.reduce((a, b) => (b.time > a.time ? b : a));
            expect(newest.time).toBe(Math.max(...there.map(({ time }) => time)));
          }
          for (const levels of [
            ['Checksum', 'Structure', 'Restore'],
            ['Structure', 'Restore'],
            ['Restore'],
          ]) {
            const verified = all.filter(each => levels.includes(each.verified));
            const newest = Math.max(...verified.map(each => each.time));
            const isThere = there.some(each => levels.includes(each.verified) && each.time === newest);
            expect(isThere).toBe(verified.length > 0);
          }
          // Applied once at the end it keeps the same, but for verified ones that were the newest of their time.
          const atOnce = new Set(kept(all, rule, timeZone).map(({ location }) => location));
          const after = new Set(there.map(({ location }) => location));
          expect([...after].filter(location => !atOnce.has(location))).toEqual([]);
          const limit =
            rule.kind === 'count'
              ? rule.count
              : rule.kind === 'tiers'
                ? rule.hourly + rule.daily + rule.weekly + rule.monthly
                : Number.POSITIVE_INFINITY;
          expect(there.length).toBeLessThanOrEqual(limit + 2);
        },
      ),
      { numRuns: 6 },
    );
  });
});
