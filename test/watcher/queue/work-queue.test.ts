import { afterEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { type Processed, WorkQueue, type WorkQueueOptions } from '../../../src/watcher/queue/work-queue.ts';
import { FakeClock } from '../fake-clock.ts';

const OPTIONS: WorkQueueOptions = {
  concurrency: 2,
  backoff: { firstMs: 100, maxMs: 3_000 },
  backgroundEveryMs: 1_000,
};

class Bench {
  readonly clock: FakeClock;
  readonly queue: WorkQueue;
  /** What was processed, and when that began. */
  readonly begun: { readonly key: string; readonly at: number }[] = [];
  readonly underWay = new Set<string>();
  most = 0;
  lastsMs = 10;
  answer: (key: string) => Processed = () => ({ outcome: 'delivered' });

  constructor(options: Partial<WorkQueueOptions> = {}, seed = 1) {
    this.clock = new FakeClock(seed);
    this.queue = new WorkQueue({
      process: (key, abort) => this.#process(key, abort),
      namespaceOf: key => key.split('/')[0] ?? '',
      clock: this.clock,
      options: { ...OPTIONS, ...options },
    });
  }

  get keys(): readonly string[] {
    return this.begun.map(({ key }) => key);
  }

  times(key: string): readonly number[] {
    return this.begun.filter(each => each.key === key).map(({ at }) => at);
  }

  async #process(key: string, abort: AbortSignal): Promise<Processed> {
    if (this.underWay.has(key)) throw new Error(`${key} is processed twice at a time`);
    this.underWay.add(key);
    this.most = Math.max(this.most, this.underWay.size);
    this.begun.push({ key, at: this.clock.now() });
    const aborted = new Promise<void>(resolve => {
      abort.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.clock.sleep(this.lastsMs), aborted]);
    this.underWay.delete(key);
    return abort.aborted ? { outcome: 'unavailable', code: 'CANCELLED' } : this.answer(key);
  }
}

let bench: Bench;
const start = (options: Partial<WorkQueueOptions> = {}): Bench => (bench = new Bench(options));
afterEach(async () => {
  const stopped = bench.queue.stop(0);
  await bench.clock.advance(1);
  await stopped;
  if (bench.clock.pending > 0) throw new Error('timers are left');
});

describe('a key', () => {
  it('is processed at once, and once however often it was added', async () => {
    start({ concurrency: 1 });
    bench.queue.add('a/first');
    for (let add = 0; add < 5; add += 1) bench.queue.add('a/second');
    await bench.clock.advance(10_000);
    expect(bench.keys).toEqual(['a/first', 'a/second']);
    expect(bench.times('a/first')).toEqual([0]);
    expect(bench.queue.waiting).toBe(0);
  });

  it('that is added while it is processed is processed once more afterwards', async () => {
    start();
    bench.lastsMs = 500;
    bench.queue.add('a/x');
    await bench.clock.advance(100);
    bench.queue.add('a/x');
    bench.queue.add('a/x');
    expect(bench.queue.has('a/x')).toBe(true);
    await bench.clock.advance(10_000);
    expect(bench.times('a/x')).toEqual([0, 500]);
    expect(bench.queue.has('a/x')).toBe(false);
  });

  it('that keeps changing is processed ever more rarely, and at once again when it was calm', async () => {
    start();
    for (let change = 0; change < 200; change += 1) {
      bench.queue.add('a/x');
      await bench.clock.advance(100);
    }
    const times = bench.times('a/x');
    expect(times.slice(0, 6)).toEqual([0, 100, 300, 700, 1_500, 3_100]);
    expect(times.length).toBeLessThan(12);
    await bench.clock.advance(20_000);
    const at = bench.clock.now();
    bench.queue.add('a/x');
    await bench.clock.advance(50);
    expect(bench.times('a/x').at(-1)).toBe(at);
  });

  it('that fails is tried again ever more rarely until it succeeds, and waits since it was added', async () => {
    start();
    bench.answer = () => ({ outcome: 'refused', code: 'INVALID_ARGUMENT' });
    bench.queue.add('a/x');
    await bench.clock.advance(60_000);
    const times = bench.times('a/x');
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(waits.slice(0, 6)).toEqual([110, 210, 410, 810, 1_610, 3_010]);
    expect(Math.max(...waits)).toBe(3_010);
    expect(bench.queue.unprocessed()).toEqual([{ key: 'a/x', since: 0, code: 'INVALID_ARGUMENT' }]);
    bench.answer = () => ({ outcome: 'delivered' });
    await bench.clock.advance(10_000);
    expect(bench.queue.unprocessed()).toEqual([]);
  });

  it('that is to be processed later is processed at the earliest time of all its adds', async () => {
    start();
    bench.queue.add('a/x', { afterMs: 10_000 });
    await bench.clock.advance(1_000);
    bench.queue.add('a/x', { afterMs: 4_000 });
    bench.queue.add('a/x', { afterMs: 60_000 });
    await bench.clock.advance(60_000);
    expect(bench.times('a/x')).toEqual([5_000]);
    bench.queue.add('a/x', { afterMs: 10_000 });
    bench.queue.add('a/x');
    await bench.clock.advance(10);
    expect(bench.times('a/x')).toEqual([5_000, 61_000]);
  });
});

describe('many keys', () => {
  it('are processed a few at a time, the namespaces by turns', async () => {
    start({ concurrency: 1 });
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'c/1']) bench.queue.add(key);
    await bench.clock.advance(1_000);
    expect(bench.keys).toEqual(['a/1', 'a/2', 'b/1', 'c/1', 'a/3', 'a/4']);
    expect(bench.most).toBe(1);
  });

  it('of the background are taken one a second, after the work, and without delay when they change', async () => {
    start();
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4']) bench.queue.add(key, { priority: 'background' });
    bench.queue.add('a/work');
    await bench.clock.advance(1_500);
    expect(bench.keys).toEqual(['a/1', 'a/work', 'a/2']);
    bench.queue.add('a/4');
    await bench.clock.advance(10);
    expect(bench.keys.at(-1)).toBe('a/4');
    await bench.clock.advance(10_000);
    expect(bench.keys).toEqual(['a/1', 'a/work', 'a/2', 'a/4', 'a/3']);
  });

  it('that were added as work stay so when they are added in the background, too', async () => {
    start({ concurrency: 1 });
    bench.queue.add('a/1');
    bench.queue.add('a/2');
    bench.queue.add('a/2', { priority: 'background' });
    await bench.clock.advance(100);
    expect(bench.keys).toEqual(['a/1', 'a/2']);
  });
});

describe('while Temporal takes nothing', () => {
  it('keys are kept and tried again, and all that wait say why', async () => {
    start();
    bench.answer = () => ({ outcome: 'unavailable', code: 'UNAVAILABLE' });
    bench.queue.add('a/1');
    bench.queue.add('a/later', { afterMs: 30_000 });
    await bench.clock.advance(20_000);
    expect(bench.queue.isReachable).toBe(false);
    expect(bench.queue.unprocessed().map(({ key, code }) => [key, code])).toEqual([
      ['a/1', 'UNAVAILABLE'],
      ['a/later', 'UNAVAILABLE'],
    ]);
    expect(bench.times('a/1').length).toBeLessThan(12);
    bench.answer = () => ({ outcome: 'delivered' });
    await bench.clock.advance(20_000);
    expect([bench.queue.waiting, bench.queue.isReachable]).toEqual([0, true]);
  });

  it('one key that hangs while others get through says nothing about Temporal', async () => {
    start();
    bench.lastsMs = 1_000;
    bench.answer = key =>
      key === 'a/hangs' ? { outcome: 'unavailable', code: 'DEADLINE_EXCEEDED' } : { outcome: 'delivered' };
    bench.queue.add('a/well');
    await bench.clock.advance(500);
    bench.queue.add('a/hangs');
    bench.queue.add('a/waits', { afterMs: 60_000 });
    await bench.clock.advance(1_050);
    expect(bench.queue.isReachable).toBe(true);
    expect(bench.queue.unprocessed().map(({ key }) => key)).toEqual(['a/hangs']);
  });
});

describe('a queue', () => {
  it('that is paused begins nothing, and goes on where it was', async () => {
    start();
    bench.queue.pause();
    bench.queue.add('a/1');
    await bench.clock.advance(10_000);
    expect(bench.keys).toEqual([]);
    bench.queue.resume();
    await bench.clock.advance(100);
    expect(bench.keys).toEqual(['a/1']);
  });

  it('that is stopped begins nothing more, and aborts what takes longer than its grace', async () => {
    start();
    bench.lastsMs = 1e9;
    bench.queue.add('a/1');
    bench.queue.add('a/2');
    bench.queue.add('a/3');
    let hasEnded = false;
    const stopped = bench.queue.stop(2_000).then(() => (hasEnded = true));
    await bench.clock.advance(1_900);
    expect(hasEnded).toBe(false);
    await bench.clock.advance(200);
    expect(hasEnded).toBe(true);
    await stopped;
    bench.queue.add('a/4');
    await bench.clock.advance(100_000);
    expect(bench.keys).toEqual(['a/1', 'a/2']);
    await bench.clock.advance(1e9);
  });
});

it('loses no key, whatever is added and however it ends (property)', async () => {
  const event = fc.record({
    key: fc.constantFrom('a/1', 'a/2', 'b/1', 'c/1'),
    afterMs: fc.constantFrom(0, 0, 500, 5_000),
    priority: fc.constantFrom('work' as const, 'background' as const),
    waitMs: fc.integer({ min: 0, max: 2_000 }),
    outcome: fc.constantFrom('delivered' as const, 'refused' as const, 'unavailable' as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 60 }), fc.integer(), async (events, seed) => {
      bench = new Bench({}, seed);
      const addedAt = new Map<string, number>();
      for (const { key, afterMs, priority, waitMs, outcome } of events) {
        bench.answer = () => (outcome === 'delivered' ? { outcome } : { outcome, code: 'X' });
        bench.queue.add(key, { afterMs, priority });
        addedAt.set(key, bench.clock.now());
        await bench.clock.advance(waitMs);
      }
      bench.answer = () => ({ outcome: 'delivered' });
      await bench.clock.advance(60_000);
      for (const [key, at] of addedAt) expect(bench.times(key).at(-1)).toBeGreaterThanOrEqual(at);
      expect(bench.most).toBeLessThanOrEqual(OPTIONS.concurrency);
      expect(bench.queue.waiting).toBe(0);
    }),
    { numRuns: 60 },
  );
});
