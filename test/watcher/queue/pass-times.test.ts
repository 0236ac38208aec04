import { describe, expect, test } from 'vitest';
import { PassTimes } from '../../../src/watcher/queue/pass-times.ts';

/** The namespace has the most places. */
const ALL = { own: 12, most: 12 } as const;

function newTimes() {
  const world = { now: 1_000_000 };
  const times = new PassTimes(() => world.now);
  /** How long a place rests when a pass of a namespace has taken so long, so often. */
  const after = (namespace: string, milliseconds: number, often = 1): number => {
    for (let pass = 0; pass < often; pass += 1) times.took(namespace, milliseconds);
    return times.restMs(namespace, ALL);
  };
  return { world, times, after };
}

describe('how long a place rests by the passes of its namespace', () => {
  test('is a while until the first passes show how long they take', () => {
    const { world, times, after } = newTimes();
    expect(times.restMs('team-a', ALL)).toBe(5_100);
    expect(after('team-a', 100, 10)).toBe(0);
    world.now += 9_999;
    expect(times.restMs('team-a', ALL)).toBe(0);
    world.now += 1;
    expect(times.restMs('team-a', ALL)).toBe(5_100);
  });

  test('grows with how long they take, up to ten seconds, and falls again', () => {
    const { after } = newTimes();
    expect(after('team-a', 1_300, 50)).toBeCloseTo(3_000, 0);
    expect(after('team-a', 60_000, 10)).toBe(10_000);
    expect(after('team-a', 300, 50)).toBeCloseTo(0, 0);
  });

  test('hardly changes with one slow pass among many', () => {
    const { after } = newTimes();
    after('team-a', 100, 50);
    expect(after('team-a', 1_000)).toBeLessThan(100);
  });

  test('is nothing for a namespace with one or two places', () => {
    const { times, after } = newTimes();
    after('team-a', 10_000, 10);
    expect([1, 2, 3].map(own => times.restMs('team-a', { own, most: own }))).toEqual([0, 0, 10_000]);
    expect(times.restMs('never-heard-of', { own: 2, most: 2 })).toBe(0);
  });

  test('is a quarter where another namespace has twice as many places', () => {
    const { times, after } = newTimes();
    after('team-a', 10_000, 10);
    expect(times.restMs('team-a', { own: 6, most: 12 })).toBe(2_500);
  });

  test('says nothing of other namespaces', () => {
    const { after } = newTimes();
    after('team-a', 10_000, 10);
    expect(after('team-b', 100, 10)).toBe(0);
  });

  test('is forgotten of those that were not heard of for longest', () => {
    const { times, after } = newTimes();
    after('first', 100, 10);
    after('second', 100, 10);
    for (let other = 0; other < 998; other += 1) times.took(`of-${other}`, 100);
    expect(after('first', 100)).toBe(0);
    times.took('one more', 100);
    expect(times.restMs('first', ALL)).toBe(0);
    expect(times.restMs('second', ALL)).toBe(5_100);
  });
});
