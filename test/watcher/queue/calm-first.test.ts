import { describe, expect, test } from 'vitest';
import { CalmFirst } from '../../../src/watcher/queue/calm-first.ts';
import { type Entry, newEntry } from '../../../src/watcher/queue/entry.ts';

const NOW = 1_000_000;

/** A key that was delivered and has waited for so many seconds, and has changed so often since. */
function waiting(delivered: number | undefined, waits: number, added = 1): Entry {
  return {
    ...newEntry('key', { minIntervalMs: 100 }),
    deliveredAt: delivered === undefined ? undefined : NOW - delivered * 1_000,
    waitingSince: NOW - waits * 1_000,
    added,
  };
}

/** Which of them is taken first. */
function first(...entries: readonly Entry[]): number {
  const choice = new CalmFirst().choice(NOW);
  const turns = entries.map(entry => choice.rankOf('shop', entry));
  expect(new Set(turns).size).toBe(turns.length);
  return turns.indexOf(Math.min(...turns));
}

describe('the turn of a key', () => {
  test('comes before that of one that was told longer ago and has changed often since', () => {
    expect(first(waiting(300, 20, 30), waiting(20, 1))).toBe(1);
  });

  test('comes in the order of their coming among calm ones', () => {
    expect(first(waiting(300, 1), waiting(30, 2), waiting(undefined, 3))).toBe(2);
  });

  test('comes to the one that was told longest ago among those that change without end', () => {
    expect(first(waiting(8, 8, 20), waiting(12, 3, 20), waiting(5, 5, 20))).toBe(1);
  });

  test('is not that of a calm one when it had changed just before', () => {
    expect(first(waiting(11, 10, 1), waiting(300, 0))).toBe(1);
  });

  const calm = waiting(600, 1);
  const stormy = waiting(65, 61, 100);

  /** Lets one of these go. */
  function take(order: CalmFirst, group: string, ...entries: readonly Entry[]): Entry | undefined {
    const choice = order.choice(NOW);
    const ranked = entries.map(entry => ({ entry, rank: choice.rankOf(group, entry) }));
    const [lowest] = ranked.toSorted((a, b) => a.rank - b.rank);
    if (lowest !== undefined) choice.took(group, lowest.entry);
    return lowest?.entry;
  }

  test('is that of another after three calm ones, of each group on its own, however long these have waited', () => {
    const order = new CalmFirst();
    const turns = [1, 2, 3, 4, 5].map(() => take(order, 'shop', calm, stormy));
    expect(turns).toEqual([calm, calm, calm, stormy, calm]);
    expect(take(order, 'web', calm, stormy)).toBe(calm);
  });

  test('is that of a calm one although many of them went while nobody else waited', () => {
    const order = new CalmFirst();
    for (let times = 0; times < 5; times += 1) take(order, 'shop', calm);
    expect(take(order, 'shop', calm, stormy)).toBe(calm);
  });
});
