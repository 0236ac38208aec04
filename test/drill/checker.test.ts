import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check } from '../stack/drill/checker.ts';
import { storedAt } from '../stack/drill/stored.ts';
import type { History, Read, Stored, StoredValue, Write } from '../stack/drill/history.ts';

const wrote = (id: number, start: number, change: Partial<Write> = {}): Write => ({
  id,
  key: `k${id % 2}`,
  value: `v${id}`,
  start,
  end: start + 5,
  outcome: 'ok',
  revision: 10 + id,
  ...change,
});
const failed = (id: number, start: number): Write =>
  wrote(id, start, { outcome: 'unknown', revision: undefined });
const read = (key: string, start: number, revision: number, value?: string): Read => ({
  key,
  start,
  end: start + 2,
  revision,
  value,
});
const event = (id: number, revision = 10 + id): StoredValue => ({
  key: `k${id % 2}`,
  value: `v${id}`,
  revision,
});
const history = (writes: readonly Write[], reads: readonly Read[] = []): History => ({
  writes,
  reads,
  begin: 0,
  end: 100,
});
/** Of these events, the last ones of each key are what is there. */
const holds = (...events: readonly StoredValue[]): Stored => ({
  events,
  values: [...new Map(events.map(value => [value.key, value])).values()],
});
const violationsOf = (...of: Parameters<typeof check>): readonly string[] => check(...of).violations;

const writes = [wrote(0, 10), wrote(1, 20), wrote(2, 30), wrote(3, 40)];
const stored = holds(event(0), event(1), event(2), event(3));

test('a history that could have happened is accepted and counted', () => {
  const unknown = [failed(4, 50), failed(5, 60)];
  const reads = [read('k0', 2, 9), read('k0', 36, 12, 'v2'), read('k1', 26, 11, 'v1')];
  const verdict = check(history([...writes, ...unknown], reads), holds(...stored.events, event(4)));
  expect(verdict).toEqual({
    violations: [],
    acknowledged: 4,
    unknown: 2,
    unknownButStored: 1,
    failedForGood: 2,
    reads: 3,
    longestStallMs: 55,
  });
});

test('a write has failed for good when everything that was tried instead of it has failed as well', () => {
  const again = (id: number, insteadOf: number, change: Partial<Write> = {}): Write =>
    wrote(id, 50 + id, { insteadOf, ...change });
  const nothing = { outcome: 'unknown', revision: undefined } as const;
  const tries = [failed(4, 50), again(5, 4, nothing), again(6, 4), failed(7, 60), again(8, 7, nothing)];
  const verdict = check(history([...writes, ...tries]), holds(...stored.events, event(6)));
  expect(verdict).toMatchObject({ violations: [], unknown: 4, failedForGood: 1 });
});

test('writes beside each other may take place in either order, and be read in between', () => {
  const beside = [wrote(0, 10, { end: 40, revision: 12 }), wrote(2, 11, { end: 41, revision: 11 })];
  const reads = [read('k0', 15, 11, 'v2'), read('k0', 20, 12, 'v0')];
  expect(violationsOf(history(beside, reads), holds(event(2, 11), event(0, 12)))).toEqual([]);
});

test('a write that was given up takes place after everything was read', () => {
  const late = event(4, 20);
  const seen = storedAt(stored.values, [...stored.events, late]);
  expect(violationsOf(history([...writes, failed(4, 50)]), seen)).toEqual([]);
  expect(
    violationsOf(history([...writes, failed(4, 50)]), { ...seen, events: [...stored.events, late] }),
  ).toEqual(['state: k0 holds k0=v2@12, the watch ended with k0=v4@20']);
});

test('a history without any operation is accepted', () => {
  expect(violationsOf(history([]), holds())).toEqual([]);
});

const broken: readonly [name: string, history: History, stored: Stored, violation: RegExp][] = [
  [
    'an acknowledged write is lost',
    history(writes),
    holds(event(0), event(1), event(3)),
    /^lost: write 2 of k0 was acknowledged with revision 12; stored is nothing of it$/,
  ],
  [
    'the last acknowledged writes are lost, as by an older copy of the data',
    history(writes),
    holds(event(0), event(1)),
    /^lost: write 3 of k1/,
  ],
  [
    'an acknowledged write is stored with another revision',
    history(writes),
    holds(event(0), event(1), event(2), event(3, 15)),
    /^lost: write 3 of k1 was acknowledged with revision 13; stored is k1=v3@15$/,
  ],
  [
    'an acknowledged write is stored under another key',
    history(writes),
    holds(event(0), event(1), event(2), { ...event(3), key: 'k0' }),
    /^lost: write 3 of k1/,
  ],
  [
    'a write happened twice',
    history(writes),
    holds(...stored.events, event(3, 14)),
    /^duplicate: k1=v3@13 and k1=v3@14 come from one write$/,
  ],
  [
    'a write without an answer happened twice',
    history([...writes, failed(4, 50)]),
    holds(...stored.events, event(4, 14), event(4, 15)),
    /^duplicate: k0=v4@14 and k0=v4@15/,
  ],
  [
    'a write without an answer happened before it began',
    history([...writes, failed(4, 50)]),
    holds(event(0), event(1), event(2), event(4, 12.5), event(3)),
    /^order: write 4 of k0 has revision 12.5, though write 3 of k1 with revision 13 was over before it began$/,
  ],
  [
    'two writes were acknowledged with one revision',
    history([wrote(0, 10), wrote(2, 10, { revision: 10 })]),
    holds(event(0)),
    /^write 0 of k0, write 2 of k0 were all acknowledged with revision 10$/,
  ],
  [
    'a later write has the lower revision',
    history([wrote(0, 10, { revision: 11 }), wrote(1, 20, { revision: 10 })]),
    holds(event(1, 10), event(0, 11)),
    /^order: write 1 of k1 has revision 10, though write 0 of k0 with revision 11 was over before it began$/,
  ],
  [
    'the watch gives events out of order',
    history(writes),
    { events: [event(0), event(2), event(1), event(3)], values: [event(2), event(3)] },
    /^reordered: the watch gave k1=v1@11 after k0=v2@12$/,
  ],
  [
    'the final state is not what the watch adds up to',
    history(writes),
    { events: stored.events, values: [event(0), event(3)] },
    /^state: k0 holds k0=v0@10, the watch ended with k0=v2@12$/,
  ],
  [
    'a key is missing from the final state',
    history(writes),
    { events: stored.events, values: [event(3)] },
    /^state: k0 holds nothing, the watch ended with k0=v2@12$/,
  ],
  [
    'somebody else wrote',
    history(writes),
    holds(...stored.events, { key: 'k9', value: 'x', revision: 14 }),
    /^invented: k9=x@14 was written by nobody$/,
  ],
  [
    'a read misses a write that was acknowledged before it',
    history(writes, [read('k0', 36, 11, 'v0')]),
    stored,
    /^stale read: the read of k0 at 36 ms, revision 11, has revision 11, though write 2 of k0 with revision 12/,
  ],
  [
    'reads one after the other go back',
    history([wrote(0, 10), wrote(2, 11, { end: 60 })], [read('k0', 20, 12, 'v2'), read('k0', 30, 10, 'v0')]),
    holds(event(0), event(2)),
    /^stale read: the read of k0 at 30 ms, revision 10, has revision 10, though the read of k0 at 20 ms/,
  ],
  [
    'a write takes place at a revision that was read before it began',
    history([wrote(0, 10), wrote(1, 30)], [read('k0', 20, 11, 'v0')]),
    holds(event(0), event(1)),
    /^order: write 1 of k1 has revision 11, though the read of k0 at 20 ms, revision 11, with revision 11/,
  ],
  [
    'a read gives a value that its key did not have then',
    history(writes, [read('k0', 50, 13, 'v0')]),
    stored,
    /^wrong read: the read of k0 at 50 ms, revision 13, gave v0, there was v2$/,
  ],
  [
    'a read finds nothing where something was',
    history(writes, [read('k0', 50, 13)]),
    stored,
    /^wrong read: the read of k0 at 50 ms, revision 13, gave nothing, there was v2$/,
  ],
];

test.each(broken)('%s', (_, ofClient, ofEtcd, violation) => {
  expect(violationsOf(ofClient, ofEtcd)).toContainEqual(expect.stringMatching(violation));
});

/** A store that is right by construction: each operation takes place at one moment between its start and its end. */
const operations = fc.array(
  fc.record({
    start: fc.integer({ min: 0, max: 500 }),
    before: fc.integer({ min: 1, max: 50 }),
    after: fc.integer({ min: 1, max: 50 }),
    kind: fc.constantFrom('ok', 'lost answer', 'never arrived', 'read'),
    key: fc.constantFrom('a', 'b', 'c'),
  }),
  { maxLength: 60 },
);

test('whatever a linearizable store does is accepted; without one acknowledged write it is not', () => {
  fc.assert(
    fc.property(operations, fc.nat(), (given, pick) => {
      const { history: of, stored: by } = linearized(given);
      expect(violationsOf(of, by)).toEqual([]);
      const acknowledged = of.writes.filter(({ outcome }) => outcome === 'ok');
      const victim = acknowledged[pick % Math.max(1, acknowledged.length)];
      if (victim === undefined) return;
      const events = by.events.filter(({ value }) => value !== victim.value);
      expect(violationsOf(of, holds(...events))).not.toEqual([]);
    }),
  );
});

type Given = typeof operations extends fc.Arbitrary<infer T> ? T : never;

function linearized(given: Given): { history: History; stored: Stored } {
  const events: StoredValue[] = [];
  const done: { writes: Write[]; reads: Read[] } = { writes: [], reads: [] };
  const inOrder = given
    .map((operation, id) => ({ ...operation, id, at: operation.start + operation.before }))
    .sort((a, b) => a.at - b.at);
  for (const { id, key, kind, start, at, after } of inOrder) {
    const value = `v${id}`;
    const end = at + after;
    if (kind === 'read') {
      const last = events.findLast(candidate => candidate.key === key);
      done.reads.push({ key, start, end, revision: events.length, value: last?.value });
      continue;
    }
    if (kind !== 'never arrived') events.push({ key, value, revision: events.length + 1 });
    const outcome = kind === 'ok' ? 'ok' : 'unknown';
    const revision = kind === 'ok' ? events.length : undefined;
    // An answer that is lost may be given up before the write takes place.
    done.writes.push({ id, key, value, start, end: kind === 'ok' ? end : start + 1, outcome, revision });
  }
  return { history: { ...done, begin: 0, end: 1_000 }, stored: holds(...events) };
}
