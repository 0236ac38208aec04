/** What nobody has changed is told behind what somebody has. */
import { describe, expect, test } from 'vitest';
import { CoalescingQueue } from '../../../src/watcher/queue/coalescing-queue.ts';
import type { AddOptions, Delivery } from '../../../src/watcher/queue/delivery.ts';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { FakeClock } from '../fake-clock.ts';

const BACKGROUND: AddOptions = { isBackground: true };
const SECOND = 1_000;

/** A queue of one namespace with eight places for what changes and four for the background; each delivery takes a second. */
function queueOn(clock: FakeClock, outcomeOf: (key: string) => Delivery = () => ({ outcome: 'delivered' })) {
  const begun: { readonly key: string; readonly at: number }[] = [];
  const retracted = new Set<string>();
  const queue = new CoalescingQueue({
    clock,
    options: { ...defaultTimings, concurrency: 8 },
    groupOf: () => 'all',
    isRetracted: key => retracted.has(key),
    deliver: async key => {
      begun.push({ key, at: clock.now() });
      await clock.sleep(SECOND);
      return outcomeOf(key);
    },
  });
  return { queue, begun, retracted, keys: () => begun.map(({ key }) => key) };
}

const addMany = (queue: CoalescingQueue, count: number, how?: AddOptions): void => {
  for (let key = 0; key < count; key += 1) queue.add(`${how ? 'other' : 'changed'}-${key}`, how);
};

describe('in the background', () => {
  test('ten thousand keys hold up no change', async () => {
    const clock = new FakeClock(1);
    const { queue, keys } = queueOn(clock);
    addMany(queue, 10_000, BACKGROUND);
    await clock.advance(10 * SECOND);
    addMany(queue, 4);
    await clock.advance(1);
    expect(keys().slice(-4)).toEqual(['changed-0', 'changed-1', 'changed-2', 'changed-3']);
    await Promise.all([queue.stop(0), clock.advance(SECOND)]);
  });

  test('keys have their turns, in the order of their coming, while others change without end', async () => {
    const clock = new FakeClock(2);
    const { queue, keys } = queueOn(clock);
    addMany(queue, 100, BACKGROUND);
    for (let second = 0; second < 30; second += 1) {
      addMany(queue, 100);
      await clock.advance(SECOND);
    }
    const others = keys().filter(key => key.startsWith('other'));
    expect(others.length).toBeGreaterThanOrEqual(50);
    expect(others).toEqual(others.map((_, turn) => `other-${turn}`));
    await Promise.all([queue.stop(0), clock.advance(SECOND)]);
  });

  test('a key that changes while it waits comes forward at once', async () => {
    const clock = new FakeClock(3);
    const { queue, keys } = queueOn(clock);
    addMany(queue, 100, BACKGROUND);
    await clock.advance(1);
    queue.add('other-99');
    await clock.advance(1);
    expect(keys().at(-1)).toBe('other-99');
    queue.add('other-98', BACKGROUND);
    await clock.advance(1);
    expect(keys().at(-1)).toBe('other-99');
    await Promise.all([queue.stop(0), clock.advance(SECOND)]);
  });

  test('what has changed and could not be told does not go back there', async () => {
    const clock = new FakeClock(4);
    const { queue, begun } = queueOn(clock, key =>
      key === 'refused' && begun.filter(({ key: other }) => other === key).length === 1
        ? { outcome: 'refused', code: 'INVALID_ARGUMENT' }
        : { outcome: 'delivered' },
    );
    addMany(queue, 10_000, BACKGROUND);
    queue.add('refused');
    await clock.advance(10 * SECOND);
    expect(begun.filter(({ key }) => key === 'refused')).toHaveLength(2);
    await Promise.all([queue.stop(0), clock.advance(SECOND)]);
  });

  test('what is retracted before its turn is dropped, and counts neither as told nor as failed', async () => {
    const clock = new FakeClock(5);
    const { queue, keys, retracted } = queueOn(clock);
    addMany(queue, 100, { ...BACKGROUND, isRetractable: true });
    queue.add('other-98', BACKGROUND);
    for (let key = 50; key < 100; key += 1) retracted.add(`other-${key}`);
    await clock.advance(60 * SECOND);
    expect(keys()).toEqual([...Array.from({ length: 50 }, (_, key) => `other-${key}`), 'other-98']);
    expect(queue.stats()).toMatchObject({ waiting: 0, inFlight: 0, delivered: 51, failed: 0 });
    expect(queue.lastDelivered('other-99')).toBeUndefined();
    expect(queue.undelivered()).toEqual([]);
    await Promise.all([queue.stop(0), clock.advance(SECOND)]);
  });

  test.each<[string, AddOptions, AddOptions]>([
    ['that has changed', {}, BACKGROUND],
    ['in the background', BACKGROUND, {}],
  ])('others are told when Temporal is back, though a key %s hangs', async (_, how, othersHow) => {
    const clock = new FakeClock(6);
    let isAway = true;
    const { queue } = queueOn(clock, key =>
      isAway || key === 'hangs' ? { outcome: 'unavailable', code: 'UNAVAILABLE' } : { outcome: 'delivered' },
    );
    queue.add('hangs', how);
    addMany(queue, 10, othersHow);
    await clock.advance(60 * SECOND);
    expect(queue.isReachable).toBe(false);
    isAway = false;
    await clock.advance(60 * SECOND);
    expect(queue.stats()).toMatchObject({ waiting: 1, delivered: 10 });
    await Promise.all([queue.stop(0), clock.advance(SECOND)]);
  });
});
