import { describe, expect, test } from 'vitest';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { UnderWay } from '../../../src/watcher/queue/under-way.ts';
import { FakeClock } from '../fake-clock.ts';

/** Keys are `namespace/name`. */
function newWorld(size = 4, answerMs = 10) {
  const clock = new FakeClock();
  const busy = new Set<string>();
  const world = { clock, busy, room: 0, window: { size, answerMs } };
  const underWay = new UnderWay({
    window: world.window,
    groupOf: key => key.split('/')[0] ?? '',
    isBusy: key => busy.has(key),
    roomMade: () => void (world.room += 1),
    clock,
    options: defaultTimings,
  });
  return { ...world, underWay, rooms: () => world.room };
}

describe('a resource that was told', () => {
  test('counts until a pass has had time enough, when it has nothing to do', async () => {
    const { clock, underWay, rooms } = newWorld();
    underWay.told('a/1');
    await clock.advance(500);
    expect([underWay.size, rooms()]).toEqual([1, 0]);
    await clock.advance(200);
    expect([underWay.size, rooms()]).toEqual([0, 1]);
  });

  test('counts the longer the slower Temporal is', async () => {
    const { clock, underWay } = newWorld(4, 1_000);
    underWay.told('a/1');
    await clock.advance(8_000);
    expect(underWay.size).toBe(1);
    await clock.advance(1_000);
    expect(underWay.size).toBe(0);
  });

  test('counts until its operation has ended', async () => {
    const { clock, busy, underWay, rooms } = newWorld();
    underWay.told('a/1');
    busy.add('a/1');
    underWay.reported('a/1');
    await clock.advance(10_000);
    expect(underWay.size).toBe(1);
    busy.delete('a/1');
    underWay.reported('a/1');
    expect([underWay.size, rooms()]).toEqual([0, 1]);
  });

  test('counts no longer than twenty seconds, whatever its operation waits for', async () => {
    const { clock, busy, underWay, rooms } = newWorld();
    underWay.told('a/1');
    busy.add('a/1');
    await clock.advance(20_000);
    expect([underWay.size, rooms()]).toEqual([0, 1]);
  });

  test('counts once and no longer, however often it is told', async () => {
    const { clock, underWay } = newWorld();
    for (let times = 0; times < 10; times += 1) {
      underWay.told('a/1');
      expect(underWay.size).toBe(1);
      await clock.advance(50);
    }
    await clock.advance(100);
    expect([underWay.size, clock.pending]).toEqual([0, 0]);
  });
});

describe('room', () => {
  test('is half of all for one namespace, and some is left for another', () => {
    const { underWay } = newWorld(4);
    underWay.told('a/1');
    expect(underWay.mayTell('a/2')).toBe(true);
    underWay.told('a/2');
    expect(underWay.mayTell('a/3')).toBe(false);
    expect(underWay.mayTell('b/1')).toBe(true);
  });

  test('is always there for one that is at work anyway', () => {
    const { underWay, window } = newWorld(4);
    for (const key of ['a/1', 'a/2', 'b/1']) underWay.told(key);
    window.size = 1;
    expect(underWay.mayTell('a/1')).toBe(true);
    expect(underWay.mayTell('c/1')).toBe(false);
  });

  test('is made by one that is gone', () => {
    const { underWay, rooms } = newWorld(2);
    underWay.told('a/1');
    expect(underWay.mayTell('a/2')).toBe(false);
    underWay.forget('a/1');
    expect([underWay.mayTell('a/2'), rooms()]).toEqual([true, 1]);
  });
});
