import { expect, test } from 'vitest';
import type { History, Write } from '../stack/drill/history.ts';
import { dishonest, type Observed, storyOf } from '../stack/drill/status-watch.ts';

/** A minute of a write every 100 ms, none of them acknowledged between `from` and `until`. */
function minute({ from, until }: { from: number; until: number }): History {
  const writes = Array.from({ length: 600 }, (_, id): Write => {
    const start = id * 100;
    const lost = start >= from && start < until;
    const outcome = lost ? 'unknown' : 'ok';
    return { id, key: 'k', value: `v${id}`, start, end: start + 2, outcome, revision: lost ? undefined : id };
  });
  return { writes, reads: [], begin: 0, end: 60_000 };
}

const claims = (available: Observed['available'], ...moments: number[]): Observed[] =>
  moments.map(at => ({ at, available, reason: 'Because', healthy: 'True', endpoints: 3 }));

test('available while nothing goes through for longer than a status may lag', () => {
  const outage = minute({ from: 10_000, until: 50_000 });
  expect(dishonest(claims('True', 5_000, 20_000, 40_000), outage)).toEqual([]);
  expect(dishonest(claims('True', 30_000), outage)).toEqual([
    'at 30.0 s Available=True, and no write went through',
  ]);
  expect(dishonest(claims('Unknown', 30_000), outage)).toEqual([]);
  expect(dishonest(claims('False', 30_000), outage)).toEqual([]);
});

test('not available while everything goes through', () => {
  const well = minute({ from: 0, until: 0 });
  expect(dishonest(claims('False', 30_000), well)).toEqual([
    'at 30.0 s Available=False (Because), and every write went through',
  ]);
  expect(dishonest(claims('Unknown', 30_000), well)).toEqual([]);
  expect(dishonest(claims('False', 30_000), minute({ from: 22_000, until: 23_000 }))).toEqual([]);
});

test('not available while everything goes through, but the client Service leads nowhere', () => {
  const well = minute({ from: 0, until: 0 });
  const [claim] = claims('False', 30_000);
  const nowhere = (at: number): Observed => ({
    at,
    available: 'True',
    reason: 'Because',
    healthy: 'True',
    endpoints: 0,
  });
  expect(dishonest([nowhere(28_000), claim!], well)).toEqual([]);
  expect(dishonest([nowhere(17_000), claim!], well)).toEqual([
    'at 30.0 s Available=False (Because), and every write went through',
  ]);
});

test('what is claimed outside of the load says nothing', () => {
  expect(dishonest(claims('False', -1, 60_001), minute({ from: 0, until: 0 }))).toEqual([]);
});

test('the story consists of its changes', () => {
  const seen = [...claims('True', 1_000, 2_000), ...claims('False', 3_500), ...claims('True', 6_000)];
  expect(storyOf(seen, 1_000)).toBe('available: True 0.0, False 2.5, True 5.0; healthy: True 0.0');
});
