/**
 * Judges a history: was every acknowledged write kept, once, in an order that could have happened, and did every read
 * see what was there? etcd numbers all changes, so this is a pass over sorted lists and no search.
 */
import type { History, Read, Stored, StoredValue, Write } from './history.ts';

export interface Verdict {
  /** What must not be, one sentence each; empty when all is well. */
  readonly violations: readonly string[];
  readonly acknowledged: number;
  /** Writes that ended in an error. */
  readonly unknown: number;
  /** Of those, how many happened all the same. */
  readonly unknownButStored: number;
  /** Writes of which every try failed, and the last one as late as issue 6 lets an application try. */
  readonly failedForGood: number;
  readonly reads: number;
  /** The longest time in which no write was acknowledged, in milliseconds. */
  readonly longestStallMs: number;
}

type Acknowledged = Write & { readonly revision: number };

/** Looks at all rules; a broken history gives one violation for each place in which it is broken. */
export function check(history: History, stored: Stored): Verdict {
  const acknowledged = history.writes.filter(isAcknowledged);
  const unknown = history.writes.filter(({ outcome }) => outcome === 'unknown');
  const storedValues = new Set(stored.events.map(({ value }) => value));
  return {
    violations: [
      ...distinctRevisions(acknowledged),
      ...realTimeOrder(history, acknowledged, stored),
      ...storedOnce(history.writes, acknowledged, stored),
      ...finalState(stored),
      ...readsSeeState(history.reads, stored),
    ],
    acknowledged: acknowledged.length,
    unknown: unknown.length,
    unknownButStored: unknown.filter(({ value }) => storedValues.has(value)).length,
    failedForGood: failedForGood(history.writes),
    reads: history.reads.length,
    longestStallMs: longestStall(history, acknowledged),
  };
}

function isAcknowledged(write: Write): write is Acknowledged {
  return write.outcome === 'ok' && write.revision !== undefined;
}

/** A write and what was tried instead of it are one intention. */
function failedForGood(writes: readonly Write[]): number {
  const intentions = Map.groupBy(writes, ({ id, insteadOf = id }) => insteadOf);
  return [...intentions.values()].filter(tries => !tries.some(({ outcome }) => outcome === 'ok')).length;
}

function distinctRevisions(acknowledged: readonly Acknowledged[]): string[] {
  return [...Map.groupBy(acknowledged, ({ revision }) => revision)]
    .filter(([, writes]) => writes.length > 1)
    .map(([revision, writes]) => `${names(writes)} were all acknowledged with revision ${revision}`);
}

/** An operation with the revision that it took place at, or saw. */
interface Placed {
  readonly what: string;
  readonly start: number;
  /** Infinity for a write without an answer: it may have happened at any time after its start. */
  readonly end: number;
  readonly revision: number;
  /** Of what was over before it began, it must be above that: a write makes a revision, a read sees one. */
  readonly makes: boolean;
}

/** What was over before something else began has the lower revision. */
function realTimeOrder(history: History, acknowledged: readonly Acknowledged[], stored: Stored): string[] {
  const revisionOf = new Map(stored.events.map(({ value, revision }) => [value, revision]));
  const happened = history.writes.flatMap(write => {
    const revision = revisionOf.get(write.value);
    if (write.outcome !== 'unknown' || revision === undefined) return [];
    return [{ what: name(write), start: write.start, end: Infinity, revision, makes: true }];
  });
  const writes = acknowledged.map(write => ({ ...write, what: name(write), makes: true }));
  const reads = history.reads.map(read => ({ ...read, what: nameOfRead(read), makes: false }));
  return outOfOrder([...happened, ...writes, ...reads]);
}

/** Sweeps over time; of all that is over, only the highest revision can be a contradiction. */
function outOfOrder(placed: readonly Placed[]): string[] {
  const byEnd = placed.toSorted((a, b) => a.end - b.end);
  const violations: string[] = [];
  let over = 0;
  let highest: Placed | undefined;
  for (const one of placed.toSorted((a, b) => a.start - b.start)) {
    for (let next = byEnd[over]; next !== undefined && next.end < one.start; next = byEnd[++over]) {
      if (highest === undefined || next.revision > highest.revision) highest = next;
    }
    if (highest === undefined) continue;
    const allowed = one.makes ? one.revision > highest.revision : one.revision >= highest.revision;
    if (allowed) continue;
    const kind = one.makes ? 'order' : 'stale read';
    violations.push(
      `${kind}: ${one.what} has revision ${one.revision}, though ${highest.what} with revision ${highest.revision} was over before it began`,
    );
  }
  return violations;
}

function storedOnce(
  writes: readonly Write[],
  acknowledged: readonly Acknowledged[],
  stored: Stored,
): string[] {
  const events = Map.groupBy(stored.events, ({ value }) => value);
  const known = new Set(writes.map(({ value }) => value));
  const invented = stored.events
    .filter(({ value }) => !known.has(value))
    .map(event => `invented: ${place(event)} was written by nobody`);
  const duplicate = [...events.values()]
    .filter(found => found.length > 1)
    .map(found => `duplicate: ${found.map(place).join(' and ')} come from one write`);
  const lost = acknowledged.flatMap(write => {
    const found = events.get(write.value)?.find(event => event.revision === write.revision);
    if (found?.key === write.key) return [];
    const instead = events.get(write.value)?.map(place).join(', ') ?? 'nothing of it';
    return [`lost: ${name(write)} was acknowledged with revision ${write.revision}; stored is ${instead}`];
  });
  return [...lost, ...duplicate, ...invented];
}

/** A watch gives revisions in order, and what it gave adds up to what is there. */
function finalState(stored: Stored): string[] {
  const disorder = stored.events.flatMap((event, index) => {
    const before = stored.events[index - 1];
    return before === undefined || before.revision < event.revision
      ? []
      : [`reordered: the watch gave ${place(event)} after ${place(before)}`];
  });
  const expected = new Map(stored.events.map(event => [event.key, place(event)]));
  const found = new Map(stored.values.map(value => [value.key, place(value)]));
  const keys = new Set([...expected.keys(), ...found.keys()]);
  const differing = [...keys].filter(key => expected.get(key) !== found.get(key));
  return [
    ...disorder,
    ...differing.map(
      key =>
        `state: ${key} holds ${found.get(key) ?? 'nothing'}, the watch ended with ${expected.get(key) ?? 'nothing'}`,
    ),
  ];
}

/** A read gives the value that its key had at the revision that it says. */
function readsSeeState(reads: readonly Read[], stored: Stored): string[] {
  const ofKey = Map.groupBy(
    stored.events.toSorted((a, b) => a.revision - b.revision),
    ({ key }) => key,
  );
  return reads.flatMap(read => {
    const expected = ofKey.get(read.key)?.findLast(({ revision }) => revision <= read.revision)?.value;
    if (expected === read.value) return [];
    return [
      `wrong read: ${nameOfRead(read)} gave ${read.value ?? 'nothing'}, there was ${expected ?? 'nothing'}`,
    ];
  });
}

function longestStall({ begin, end }: History, acknowledged: readonly Acknowledged[]): number {
  const moments = [begin, ...acknowledged.map(write => write.end).sort((a, b) => a - b), end];
  return moments.reduce(
    (longest, moment, index) => Math.max(longest, moment - (moments[index - 1] ?? moment)),
    0,
  );
}

function name({ id, key }: Write): string {
  return `write ${id} of ${key}`;
}

function names(writes: readonly Write[]): string {
  return writes.map(name).join(', ');
}

function nameOfRead({ key, revision, start }: Read): string {
  return `the read of ${key} at ${start.toFixed(0)} ms, revision ${revision},`;
}

function place({ key, value, revision }: StoredValue): string {
  return `${key}=${value}@${revision}`;
}
