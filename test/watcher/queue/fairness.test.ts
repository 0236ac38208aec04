/** A storm in one namespace slows that namespace: signals to Temporal, and what a start brings. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Backlog } from '../../../src/watcher/queue/backlog.ts';
import { CoalescingQueue } from '../../../src/watcher/queue/coalescing-queue.ts';
import type { Delivery } from '../../../src/watcher/queue/delivery.ts';
import { Turns } from '../../../src/kube/turns.ts';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { FakeClock } from '../fake-clock.ts';

const groupOf = (key: string): string => key.split('/')[0] ?? '';

/** A queue of which each delivery takes as long as its namespace is slow. */
function queueOn(
  clock: FakeClock,
  slowMs: Readonly<Record<string, number>>,
  outcome: Delivery['outcome'] = 'delivered',
) {
  const delivered: { readonly key: string; readonly begun: number; readonly ended: number }[] = [];
  const queue = new CoalescingQueue({
    clock,
    options: defaultTimings,
    groupOf,
    deliver: async key => {
      const begun = clock.now();
      const ms = slowMs[key.split('/')[0] ?? ''] ?? 10;
      await clock.sleep(ms);
      delivered.push({ key, begun, ended: clock.now() });
      return ms < 1_000
        ? { outcome: 'delivered' }
        : outcome === 'delivered'
          ? { outcome }
          : { outcome: 'refused', code: 'x' };
    },
  });
  return { queue, delivered };
}

describe('signals', () => {
  test('of others are not held up by 10,000 changes of 100 clusters in one namespace, where Temporal is slow', async () => {
    const clock = new FakeClock(7);
    // Every call takes 200 ms, whoever it is for.
    const { queue, delivered } = queueOn(clock, { storm: 200, calm: 200 });
    const changedAt = new Map<string, number>();
    for (let change = 0; change < 10_000; change += 1) {
      queue.add(`storm/${Math.floor(clock.random() * 100)}`);
      if (change % 500 === 250) {
        queue.add(`calm/${change}`);
        changedAt.set(`calm/${change}`, clock.now());
      }
      if (change % 10 === 9) await clock.advance(10);
    }
    await clock.advance(1_000);
    const waits = [...changedAt].map(([key, at]) => {
      const first = delivered.find(told => told.key === key);
      return first === undefined ? Number.POSITIVE_INFINITY : first.begun - at;
    });
    expect(waits).toHaveLength(20);
    expect(Math.max(...waits)).toBeLessThanOrEqual(20);
    // The storm itself has the rest: no less than half of what all could have.
    const stormed = delivered.filter(({ key, ended }) => key.startsWith('storm') && ended <= 10_000).length;
    expect(stormed).toBeGreaterThan(400);
    await Promise.all([queue.stop(100), clock.advance(1_000)]);
  });

  test('of calm ones wait for few of those of their own namespace that change without end, and these have their turns', async () => {
    const clock = new FakeClock(11);
    // Twelve at once, six seconds each: the hundred of the storm have a turn a minute.
    const { queue, delivered } = queueOn(clock, { shop: 6_000 });
    const waits: number[] = [];
    for (let second = 0; second < 300; second += 1) {
      for (let key = 0; key < 100; key += 1) queue.add(`shop/storm-${key}`);
      if (second % 2 === 1) queue.add(`shop/calm-${second}`);
      await clock.advance(1_000);
    }
    for (const { key, begun } of delivered) {
      const [, second] = /calm-(\d+)$/.exec(key) ?? [];
      if (second !== undefined) waits.push(begun - Number(second) * 1_000);
    }
    expect(waits.length).toBeGreaterThan(140);
    // The next place is free within six seconds, and one turn of four is another's.
    expect(Math.max(...waits)).toBeLessThanOrEqual(12_000);
    const turns = new Map<string, number>();
    for (const { key } of delivered) turns.set(key, (turns.get(key) ?? 0) + 1);
    for (let key = 0; key < 100; key += 1) expect(turns.get(`shop/storm-${key}`)).toBeGreaterThanOrEqual(3);
    await Promise.all([queue.stop(100), clock.advance(10_000)]);
  });

  test('of those that change without end are each fourth of a namespace in which calm ones always wait', async () => {
    const clock = new FakeClock(12);
    const { queue, delivered } = queueOn(clock, { shop: 6_000 });
    for (let second = 0; second < 120; second += 1) {
      for (let key = 0; key < 100; key += 1) queue.add(`shop/storm-${key}`);
      for (let key = 0; key < 4; key += 1) queue.add(`shop/calm-${second}-${key}`);
      await clock.advance(1_000);
    }
    // The first seconds belong to keys that were all new.
    const later = delivered.filter(({ begun }) => begun > 30_000);
    const stormed = later.filter(({ key }) => key.startsWith('shop/storm'));
    expect(later.length).toBeGreaterThan(150);
    expect(stormed.length / later.length).toBeGreaterThan(0.2);
    expect(stormed.length / later.length).toBeLessThan(0.3);
    await Promise.all([queue.stop(100), clock.advance(10_000)]);
  });

  test.each(['delivered', 'refused'] as const)(
    'of others are not held up by a namespace whose signals hang until their deadline and are %s',
    async outcome => {
      const clock = new FakeClock(3);
      const { queue, delivered } = queueOn(clock, { hanging: 5_000, worse: 5_000 }, outcome);
      for (let key = 0; key < 1_000; key += 1) {
        queue.add(`hanging/${key}`);
        queue.add(`worse/${key}`);
      }
      await clock.advance(7_000);
      for (let key = 0; key < 50; key += 1) queue.add(`calm/${key}`);
      await clock.advance(1_000);
      expect(delivered.filter(({ key }) => key.startsWith('calm'))).toHaveLength(50);
      await Promise.all([queue.stop(100), clock.advance(10_000)]);
    },
  );
});

test('what a start has found is told of in turns: a namespace of a thousand does not come before one of ten', async () => {
  const clock = new FakeClock(1);
  const told: string[] = [];
  const backlog = new Backlog({ clock, groupOf, everyMs: 100, tell: key => void told.push(key) });
  for (let key = 0; key < 1_000; key += 1) backlog.add(`large/${key}`, false);
  for (let key = 0; key < 10; key += 1) backlog.add(`small/${key}`, false);
  await clock.advance(2_100);
  expect(told.filter(key => key.startsWith('small'))).toHaveLength(10);
  // Those with something to do come first, whatever turn it is.
  backlog.add('large/7777', true);
  await clock.advance(150);
  expect(told.slice(-2)).toContain('large/7777');
  expect(backlog.size).toBe(1_011 - told.length);
  backlog.pause();
});

test('turns lose nothing, give nothing twice, and keep the order within a group', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('add', 'delete', 'take'), fc.constantFrom('a', 'b', 'c'), fc.nat(5))),
      steps => {
        const turns = new Turns(groupOf);
        let waiting: string[] = [];
        let wrong = false;
        for (const [step, group, number] of steps) {
          const key = `${group}/${number}`;
          if (step === 'add') {
            if (!waiting.includes(key)) waiting.push(key);
            turns.add(key);
          } else if (step === 'delete') {
            waiting = waiting.filter(other => other !== key);
            turns.delete(key);
          } else {
            const taken = turns.take();
            // The first of its group, whichever that is; none only when nobody waits.
            const firsts = new Map(waiting.toReversed().map(other => [groupOf(other), other]));
            wrong ||= taken === undefined ? firsts.size > 0 : firsts.get(groupOf(taken)) !== taken;
            waiting = waiting.filter(other => other !== taken);
          }
          expect(wrong).toBe(false);
          expect(turns.size).toBe(waiting.length);
          for (const other of waiting) expect(turns.has(other)).toBe(true);
        }
      },
    ),
  );
});
