/** What is kept, over simulated years. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RetentionPolicy } from '../../../src/api/defaults/etcd-backup.ts';
import { type KeptBackup, toDelete } from '../../../src/planner/backup/retention.ts';
import { nextBackup } from '../../../src/planner/backup/schedule.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:30:00Z');

const LATER = { timeZone: 'UTC', now: START + 1_000 * HOUR };

const WORDS: readonly KeptBackup['verified'][] = ['Checksum', 'Structure', 'Restore', 'Checksum', ''];

function backup(time: number, verified: KeptBackup['verified'] = 'Checksum'): KeptBackup {
  return { location: `s3://b/k_v${time}`, time, verified };
}

function kept(
  all: readonly KeptBackup[],
  policy: RetentionPolicy,
  zone = 'UTC',
  now = Number.POSITIVE_INFINITY,
): readonly KeptBackup[] {
  const gone = new Set(toDelete(all, policy, { timeZone: zone, now }));
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

it('of backups of one time the same one is kept, in whatever order they are listed', () => {
  const two = ['s3://b/one', 's3://b/two'].map(location => ({ ...backup(START), location }));
  const policy = { kind: 'count', count: 1 } as const;
  expect(toDelete(two, policy, LATER)).toEqual(toDelete(two.toReversed(), policy, LATER));
});

describe('by count', () => {
  it('keeps the newest by time, also when the revision gains a digit', () => {
    const named = [
      { location: 's3://b/k_v999_2026-01-01-00:00:00', time: START, verified: 'Checksum' as const },
      { location: 's3://b/k_v1000_2026-01-01-01:00:00', time: START + HOUR, verified: 'Checksum' as const },
    ];
    expect(toDelete(named, { kind: 'count', count: 1 }, LATER)).toEqual([named[0]]);
  });

  it('never deletes the newest that is verified', () => {
    const all = [backup(START), backup(START + HOUR, ''), backup(START + 2 * HOUR, '')];
    expect(kept(all, { kind: 'count', count: 1 })).toEqual([all[0], all[2]]);
  });

  it('deletes no good one for the sake of bad ones', () => {
    const all = ['Restore', 'Restore', '', '', ''].map((word, hour) =>
      backup(START + hour * HOUR, word as KeptBackup['verified']),
    );
    expect(kept(all, { kind: 'count', count: 2 })).toEqual([all[0], all[1], all[3], all[4]]);
  });

  it('never deletes the newest that was restored on the side, nor the newest that etcdutl has read', () => {
    const words = ['Restore', 'Structure', 'Restore', 'Structure', 'Checksum', ''] as const;
    const all = words.map((word, hour) => backup(START + hour * HOUR, word));
    expect(kept(all, { kind: 'count', count: 1 })).toEqual(all.slice(2));
  });

  it('deletes nothing for the sake of backups of a time that is still to come', () => {
    // The clock was a year ahead for three hours, and was put right.
    const ahead = [0, 1, 2].map(hour => backup(START + (365 * 24 + hour) * HOUR));
    const before = backup(START);
    const [first, second, third] = [2, 3, 4].map(hour => backup(START + hour * HOUR));
    const all = [before, ...ahead, ...[first, second, third].filter(each => each !== undefined)];
    for (const policy of [{ kind: 'count', count: 2 } as const, tiers({ hourly: 2 })]) {
      expect(kept(all, policy, 'UTC', START + 4 * HOUR)).toEqual([...ahead, second, third]);
    }
  });

  it('all keeps all', () => {
    expect(toDelete([backup(START), backup(START + HOUR)], { kind: 'all' }, LATER)).toEqual([]);
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

  it('keeps the good one of a day that a bad one came after', () => {
    const day = [backup(START), backup(START + HOUR, ''), backup(START + 30 * HOUR)];
    expect(kept(day, tiers({ daily: 2 }))).toEqual(day);
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

describe('a year of backups by schedule, retention after each', () => {
  const ZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe'];
  const PER_DAY = 2;
  const SCHEDULE = { kind: 'cron', expression: '30 2,14 * * *' } as const;

  /** What is as it may happen once a day: nobody there for days, a person's backup, an unverified one, a clock that is behind. */
  const day = fc.record({
    awayDays: fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 12 })),
    byPerson: fc.boolean(),
    verified: fc.constantFrom(...WORDS),
    behind: fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, fc.constant(3 * HOUR)),
  });
  type Day = typeof day extends fc.Arbitrary<infer T> ? T : never;
  interface Run extends KeptBackup {
    /** Of the schedule; undefined: a person asked. */
    readonly scheduledFor: number | undefined;
    readonly lateness: number;
  }

  /** Every backup of the year, in the order in which they are made. */
  function year(days: readonly Day[], timeZone: string): readonly Run[] {
    const runs: Run[] = [];
    let [now, last] = [START, START];
    const add = (time: number, scheduledFor: number | undefined, { verified, behind }: Day) =>
      runs.push({
        location: `s3://b/k_${runs.length}`,
        time: time - behind,
        verified,
        scheduledFor,
        lateness: time - (scheduledFor ?? time),
      });
    for (let number = 0; now < START + 365 * 24 * HOUR; number += 1) {
      const today = days[number % days.length] as Day;
      now += today.awayDays * 24 * HOUR;
      for (let count = 0; count < PER_DAY; count += 1) {
        const next = nextBackup({ ...SCHEDULE, timeZone }, { now, last, since: START });
        now = Math.max(now, next.at ?? 0);
        last = next.at ?? 0;
        add(now, last, today);
      }
      if (today.byPerson) add(now + 90 * 60_000, undefined, today);
    }
    return runs;
  }

  it('comes when the wall clock says, and once for all that were missed', () => {
    fc.assert(
      fc.property(
        fc.array(day, { minLength: 40, maxLength: 90 }),
        fc.constantFrom(...ZONES),
        (days, zone) => {
          const scheduled = year(days, zone).filter(({ scheduledFor }) => scheduledFor !== undefined);
          const times = scheduled.map(({ scheduledFor = 0 }) => scheduledFor);
          expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
          // What is late is the newest of the missed: the next time was still to come.
          expect(Math.max(...scheduled.map(({ lateness }) => lateness))).toBeLessThan(13 * HOUR);
          const clocks = times.map(at => labels(zone).clock(at));
          // What spring skips comes as much later as the clock was moved.
          expect([...new Set(clocks)].filter(clock => !/^(02|14):30$/.test(clock)).join()).toMatch(
            /^(03:[03]0)?$/,
          );
          const perDay = Map.groupBy(times, at => labels(zone).daily(at));
          expect([...perDay.values()].every(({ length }) => length <= PER_DAY)).toBe(true);
        },
      ),
      { numRuns: 4 },
    );
  });

  it('keeps what the policy says, no more and no less, whenever it is applied', () => {
    const tier = (max: number) => fc.integer({ min: 0, max });
    const policy = fc.oneof(
      fc.record({ kind: fc.constant('count' as const), count: fc.integer({ min: 1, max: 30 }) }),
      fc.record({
        kind: fc.constant('tiers' as const),
        hourly: tier(24),
        daily: fc.integer({ min: 1, max: 14 }),
        weekly: tier(5),
        monthly: tier(12),
      }),
    );
    fc.assert(
      fc.property(
        fc.array(day, { minLength: 40, maxLength: 90 }),
        policy,
        fc.constantFrom(...ZONES),
        (days, rule, zone) => {
          const wanted = oracle(rule, zone);
          let there: readonly KeptBackup[] = [];
          const compared: string[][][] = [];
          for (const [index, run] of year(days, zone).entries()) {
            there = kept([...there, run], rule, zone);
            wanted.add(run);
            if (index % 15 === 0) compared.push([names(there), names(wanted.keep())]);
          }
          expect(compared.map(([is]) => is)).toEqual(compared.map(([, ought]) => ought));
        },
      ),
      { numRuns: 5 },
    );
  });

  const names = (all: readonly KeptBackup[]) => all.map(({ location }) => location).toSorted();

  /** The policy in other words: by the labels that calendars have, over everything that was ever made. */
  function oracle(rule: RetentionPolicy, zone: string) {
    const all: KeptBackup[] = [];
    const of = labels(zone);
    const newest = (group: readonly KeptBackup[]) => group.reduce((a, b) => (b.time >= a.time ? b : a));
    const keep = (): readonly KeptBackup[] => {
      const sorted = all.toSorted((a, b) => b.time - a.time);
      const proved = [/./, /^(Structure|Restore)$/, /^Restore$/].flatMap(word => {
        const group = sorted.filter(each => word.test(each.verified));
        return group.length === 0 ? [] : [newest(group)];
      });
      // Bad ones are counted by themselves.
      const groups = [/./, /^$/].map(word => sorted.filter(each => word.test(each.verified)));
      const tierOf = (label: (at: number) => string, count: number) =>
        groups.flatMap(group =>
          [...Map.groupBy(group, ({ time }) => label(time)).values()].slice(0, count).map(newest),
        );
      const byRule =
        rule.kind === 'tiers'
          ? [
              ...tierOf(of.hourly, rule.hourly),
              ...tierOf(of.daily, rule.daily),
              ...tierOf(of.weekly, rule.weekly),
              ...tierOf(of.monthly, rule.monthly),
            ]
          : groups.flatMap(group => group.slice(0, rule.kind === 'count' ? rule.count : group.length));
      return [...new Set([...byRule, newest(all), ...proved])];
    };
    return { add: (backup: KeptBackup) => void all.push(backup), keep };
  }
});

const labelsOfZones = new Map<string, ReturnType<typeof newLabels>>();

/** What a calendar of the zone calls a moment. */
function labels(zone: string): ReturnType<typeof newLabels> {
  const known = labelsOfZones.get(zone) ?? newLabels(zone);
  labelsOfZones.set(zone, known);
  return known;
}

function newLabels(timeZone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  const offset = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' });
  const texts = new Map<number, string>();
  /** As 2026-10-25 02:30. */
  const text = (at: number): string => {
    const known = texts.get(at) ?? format.format(at);
    texts.set(at, known);
    return known;
  };
  const weekly = (at: number): string => {
    const date = new Date(`${text(at).slice(0, 10)}T12:00:00Z`);
    // ISO 8601: a week is that of its Thursday.
    date.setUTCDate(date.getUTCDate() + 4 - (date.getUTCDay() || 7));
    const first = Date.UTC(date.getUTCFullYear(), 0, 1);
    return `${date.getUTCFullYear()} W${Math.ceil(((date.getTime() - first) / (24 * HOUR) + 0.5) / 7)}`;
  };
  return {
    clock: (at: number) => text(at).slice(11),
    // The hour that is repeated is two: the offset of the clock distinguishes them.
    hourly: (at: number) => `${text(at).slice(0, 13)} ${offset.format(at)}`,
    daily: (at: number) => text(at).slice(0, 10),
    weekly,
    monthly: (at: number) => text(at).slice(0, 7),
  };
}
