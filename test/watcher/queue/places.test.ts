import { describe, expect, test } from 'vitest';
import { Places } from '../../../src/watcher/queue/places.ts';
import { FakeClock } from '../fake-clock.ts';

function world(count = 8) {
  const clock = new FakeClock();
  let told = 0;
  const places = new Places({ clock, count, onFree: () => (told += 1) });
  /** Takes as many as a group may have. */
  const fill = (group: string): number => {
    let taken = 0;
    for (; places.isFreeFor(group); taken += 1) places.take(group);
    return taken;
  };
  return { clock, places, fill, told: () => told };
}

describe('places', () => {
  test('are half taken by one group, and something is left for every other', () => {
    const { fill } = world();
    expect(fill('a')).toBe(4);
    expect(fill('b')).toBe(2);
    expect(fill('c')).toBe(1);
  });

  test('are free at once when they are given back, without telling', () => {
    const { places, fill, told } = world();
    fill('a');
    expect(places.isFreeFor('a')).toBe(false);
    places.release('a');
    expect(places.isFreeFor('a')).toBe(true);
    expect(told()).toBe(0);
  });

  test('that rest count as taken by their group, and are told of when they are free', async () => {
    const { clock, places, fill, told } = world();
    fill('a');
    for (let place = 0; place < 4; place += 1) places.release('a', () => 1_000);
    await clock.advance(999);
    expect(places.isFreeFor('a')).toBe(false);
    expect(places.isFreeFor('b')).toBe(true);
    await clock.advance(1);
    expect(told()).toBe(4);
    expect(fill('a')).toBe(4);
  });

  test('that rest are free as soon as a shorter rest is enough, and rest on while a longer one is needed', async () => {
    const { clock, places, fill } = world();
    let restMs = 5_000;
    fill('a');
    for (let place = 0; place < 4; place += 1) places.release('a', () => restMs);
    await clock.advance(1_000);
    restMs = 20_000;
    await clock.advance(8_000);
    expect(places.isFreeFor('a')).toBe(false);
    restMs = 2_000;
    await clock.advance(250);
    expect(fill('a')).toBe(4);
  });

  test('rest by how many their group has at that time', async () => {
    const { clock, places, fill } = world();
    fill('a');
    for (let place = 0; place < 4; place += 1) places.release('a', ({ own }) => (own > 1 ? 0 : 60_000));
    await clock.advance(0);
    expect(places.isFreeFor('a')).toBe(true);
    await clock.advance(20_000);
    expect(fill('a')).toBe(3);
  });

  test('tell of nothing any more after a stop', async () => {
    const { clock, places, fill, told } = world();
    fill('a');
    places.release('a', () => 1_000);
    places.stop();
    places.release('a', () => 1_000);
    await clock.advance(2_000);
    expect(told()).toBe(0);
  });
});
