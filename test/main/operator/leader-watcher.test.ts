import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeaderWatcher } from '../../../src/main/operator/leader-watcher.ts';
import type { Watcher } from '../../../src/watcher/watcher-types.ts';

let log: string[];
let made: number;
let leader: LeaderWatcher;

/** A watcher that records what is done to it. */
function watcher(): Watcher {
  made += 1;
  const name = `w${made}`;
  const note = (what: string) => () => void log.push(`${name} ${what}`);
  return {
    start: async () => note('start')(),
    pause: note('pause'),
    resume: note('resume'),
    stop: async () => note('stop')(),
    synced: () => true,
    clusters: () => [],
    backups: () => [],
    conditions: () => [],
    stats: () => ({ waiting: made }) as ReturnType<Watcher['stats']>,
  };
}

beforeEach(() => {
  vi.useFakeTimers();
  log = [];
  made = 0;
  const onLeading = (isLeading: boolean) => log.push(isLeading ? 'leads' : 'leads no more');
  leader = new LeaderWatcher({
    make: watcher,
    prepare: async () => {},
    logger: { error: () => {} },
    onLeading,
    keepMs: 60_000,
  });
});

afterEach(() => vi.useRealTimers());

test('a term that is lost and won ten times has one watcher, which lists once', async () => {
  for (let term = 0; term < 10; term += 1) {
    leader.begin();
    await vi.advanceTimersByTimeAsync(9_000);
    leader.end();
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(made).toBe(1);
  expect(log.filter(line => line === 'w1 resume')).toHaveLength(9);
  expect(log).not.toContain('w1 stop');
});

/** What is due at this moment is done. */
const settle = () => vi.advanceTimersByTimeAsync(0);

test('what is not won again within its time is let go, and the next term begins again', async () => {
  leader.begin();
  await settle();
  leader.end();
  await vi.advanceTimersByTimeAsync(61_000);
  expect(log).toEqual(['leads', 'w1 start', 'leads no more', 'w1 pause', 'w1 stop']);
  expect(leader.current).toBeUndefined();
  leader.begin();
  await settle();
  expect(log.at(-1)).toBe('w2 start');
});

test('a watcher is renewed at once while it leads, and with the next term otherwise', async () => {
  leader.begin();
  await settle();
  leader.renew();
  await settle();
  expect(log).toEqual(['leads', 'w1 start', 'w1 stop', 'w2 start']);
  leader.end();
  leader.renew();
  expect(log.slice(4)).toEqual(['leads no more', 'w2 pause', 'w2 stop']);
  leader.begin();
  await settle();
  expect(log.slice(7)).toEqual(['leads', 'w3 start']);
});

test('a watcher starts after what has to come before it, unless its term has ended meanwhile', async () => {
  const { promise: prepared, resolve } = Promise.withResolvers<void>();
  leader = new LeaderWatcher({
    make: watcher,
    prepare: () => prepared,
    logger: { error: () => {} },
    onLeading: () => {},
    keepMs: 60_000,
  });
  leader.begin();
  await settle();
  expect(log).toEqual([]);
  leader.end();
  resolve();
  await settle();
  expect(log).toEqual(['w1 pause']);
  leader.begin();
  await settle();
  expect(log.at(-1)).toBe('w2 start');
});

test('what comes before a watcher is given up with the term, and done again in the next', async () => {
  const terms: AbortSignal[] = [];
  leader = new LeaderWatcher({
    make: watcher,
    prepare: async term => void terms.push(term),
    logger: { error: () => {} },
    onLeading: () => {},
    keepMs: 60_000,
  });
  leader.begin();
  await settle();
  expect(terms.map(({ aborted }) => aborted)).toEqual([false]);
  leader.end();
  expect(terms.map(({ aborted }) => aborted)).toEqual([true]);
  leader.begin();
  await settle();
  expect(terms.map(({ aborted }) => aborted)).toEqual([true, false]);
  leader.renew();
  await settle();
  expect(terms.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  await leader.close();
  expect(terms.map(({ aborted }) => aborted)).toEqual([true, true, true]);
});

test('after the close no term begins', async () => {
  leader.begin();
  await settle();
  await leader.close();
  leader.begin();
  expect(log).toEqual(['leads', 'w1 start', 'leads no more', 'w1 pause', 'w1 stop']);
});
