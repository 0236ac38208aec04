import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CoalescingQueue } from '../../../src/watcher/queue/coalescing-queue.ts';
import type { AddOptions, Delivery } from '../../../src/watcher/queue/delivery.ts';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { jitteredBackoffMs } from '../../../src/api/values/backoff.ts';
import { nextInterval } from '../../../src/watcher/queue/pace.ts';
import { FakeClock, settle } from '../fake-clock.ts';

const delivered: Delivery = { outcome: 'delivered' };
const unavailable: Delivery = { outcome: 'unavailable', code: 'UNAVAILABLE' };
const held: Delivery = { outcome: 'held' };
const refused: Delivery = { outcome: 'refused', code: 'INVALID_ARGUMENT' };

/** A receiver that takes time, and knows the order of everything that happened. */
class World {
  readonly clock: FakeClock;
  readonly queue: CoalescingQueue;
  /** Per key: when the latest add, and the begin of the latest delivered try, happened in the order of all events. */
  readonly lastAdd = new Map<string, number>();
  readonly lastDeliveredBegin = new Map<string, number>();
  /** Of those that are not retractable. */
  readonly #lastSureAdd = new Map<string, number>();
  readonly retracted = new Set<string>();
  readonly tries: { readonly key: string; readonly at: number; readonly outcome: string }[] = [];
  readonly wrongs: string[] = [];
  answer: (key: string) => Delivery = () => delivered;
  latency: (key: string) => number = () => 5;
  #order = 0;
  readonly #underWay = new Set<string>();
  readonly #concurrency: number;
  #mostAtOnce: number;
  stopped = false;

  constructor(seed = 1, concurrency = 4) {
    this.clock = new FakeClock(seed);
    this.#concurrency = concurrency;
    this.#mostAtOnce = concurrency;
    const options = { ...defaultTimings, concurrency };
    this.queue = new CoalescingQueue({
      // The part before the slash; a key without one is a group by itself.
      groupOf: key => key.split('/')[0] ?? key,
      clock: this.clock,
      options,
      isRetracted: key => {
        if ((this.#lastSureAdd.get(key) ?? 0) > (this.lastDeliveredBegin.get(key) ?? 0))
          this.wrongs.push(`${key} would be dropped, though it was added for good`);
        if (!this.retracted.has(key)) return false;
        this.lastAdd.delete(key);
        return true;
      },
      deliver: async (key, abort) => {
        const begin = ++this.#order;
        const at = this.clock.now();
        if (this.stopped) this.wrongs.push(`${key} tried after the stop`);
        if (this.#underWay.has(key)) this.wrongs.push(`${key} tried twice at once`);
        this.#underWay.add(key);
        if (this.#underWay.size > this.#mostAtOnce) this.wrongs.push(`${this.#underWay.size} tries at once`);
        const aborted = new Promise<void>(resolve =>
          abort.addEventListener('abort', () => resolve(), { once: true }),
        );
        await Promise.race([this.clock.sleep(this.latency(key)), aborted]);
        this.#underWay.delete(key);
        const answer = abort.aborted ? unavailable : this.answer(key);
        this.tries.push({ key, at, outcome: answer.outcome });
        if (answer.outcome === 'delivered') this.lastDeliveredBegin.set(key, begin);
        return answer;
      },
    });
  }

  add(key: string, how: AddOptions = {}): void {
    if (how.isBackground === true) this.#mostAtOnce = this.#concurrency + Math.ceil(this.#concurrency / 2);
    this.lastAdd.set(key, ++this.#order);
    if (how.isRetractable !== true) this.#lastSureAdd.set(key, this.#order);
    this.queue.add(key, how);
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Keys whose latest add was not followed by a delivery that began after it. */
  lost(): string[] {
    return [...this.lastAdd]
      .filter(([key, add]) => (this.lastDeliveredBegin.get(key) ?? 0) < add)
      .map(([key]) => key);
  }

  /** The times between the begins of the delivered tries of a key. */
  gaps(key: string): number[] {
    const begins = this.tries
      .filter(attempt => attempt.key === key && attempt.outcome === 'delivered')
      .map(({ at }) => at);
    return begins.slice(1).map((at, index) => at - (begins[index] ?? 0));
  }

  of(key: string): number[] {
    return this.tries.filter(attempt => attempt.key === key).map(({ at }) => at);
  }
}

describe('pace', () => {
  test('the first event of a quiet key goes at once, in the same turn', () => {
    const world = new World();
    world.add('a');
    expect(world.underWay).toBe(1);
  });

  test('two events are two signals, the second after the shortest interval', async () => {
    const world = new World();
    world.add('a');
    await world.clock.advance(20);
    world.add('a');
    await world.clock.advance(1_000);
    expect(world.of('a')).toEqual([0, 100]);
    expect(world.lost()).toEqual([]);
  });

  test('events while a delivery is under way are one more delivery', async () => {
    const world = new World();
    world.latency = () => 400;
    world.add('a');
    for (let event = 0; event < 50; event += 1) {
      await world.clock.advance(5);
      world.add('a');
    }
    await world.clock.advance(5_000);
    expect(world.of('a')).toEqual([0, 400]);
    expect(world.lost()).toEqual([]);
  });

  test('a key that changes without end is signalled ever slower, and at the end once more', async () => {
    const world = new World();
    for (let event = 0; event < 1_000; event += 1) {
      world.add('a');
      await world.clock.advance(10);
    }
    await world.clock.advance(5_000);
    expect(world.of('a')).toEqual([0, 100, 400, 1_300, 4_000, 7_000, 10_000]);
    expect(world.lost()).toEqual([]);
  });

  test('waiting for a slow receiver is not being quiet', async () => {
    const world = new World(1, 4);
    world.latency = () => 50;
    for (let event = 0; event < 1_000; event += 1) {
      for (let key = 0; key < 40; key += 1) world.add(`k${key}`);
      await world.clock.advance(10);
    }
    await world.clock.advance(5_000);
    for (let key = 0; key < 40; key += 1) expect(world.of(`k${key}`).length).toBeLessThanOrEqual(7);
    expect(world.lost()).toEqual([]);
  });

  test('a key that has been quiet goes at once again', async () => {
    const world = new World();
    for (let event = 0; event < 100; event += 1) {
      world.add('a');
      await world.clock.advance(10);
    }
    await world.clock.advance(15_000);
    world.add('a');
    await world.clock.advance(10);
    world.add('a');
    await world.clock.advance(1_000);
    expect(world.of('a').slice(-2)).toEqual([16_000, 16_100]);
  });

  test('urgent news of a key that changes without end is told within half a second, if it is rare', async () => {
    const world = new World();
    const storm = async (seconds: number, urgent = false): Promise<number[]> => {
      const before = world.of('a').length;
      for (let event = 0; event < seconds * 20; event += 1) {
        world.add('a', { urgent });
        await world.clock.advance(50);
      }
      return world.of('a').slice(before);
    };
    await storm(30);
    await world.clock.advance(3_000);
    const [last = 0] = world.of('a').slice(-1);
    world.add('a');
    await world.clock.advance(100);
    expect(world.of('a').at(-1)).toBe(last);
    const urgentAt = world.clock.now();
    world.add('a', { urgent: true });
    await world.clock.advance(500);
    expect(world.of('a').at(-1)).toBeGreaterThan(last);
    expect((world.of('a').at(-1) ?? 0) - urgentAt).toBeLessThanOrEqual(500);
    expect((await storm(60, true)).length).toBeLessThanOrEqual(40);
    expect((await storm(60)).length).toBeLessThanOrEqual(21);
    expect(world.wrongs).toEqual([]);
  });

  test('urgent news of a key that is refused waits like any other', async () => {
    const world = new World();
    world.answer = () => refused;
    for (let event = 0; event < 600; event += 1) {
      world.add('a', { urgent: true });
      await world.clock.advance(100);
    }
    expect(world.tries.length).toBeLessThan(12);
    expect(world.queue.undelivered()).toHaveLength(1);
  });

  test('one busy key does not delay another', async () => {
    const world = new World();
    for (let event = 0; event < 100; event += 1) world.add('busy');
    world.add('quiet');
    await world.clock.advance(0);
    expect(world.underWay).toBe(2);
  });

  test('the places of a namespace in a storm rest, and another namespace passes', async () => {
    const world = new World(1, 8);
    world.answer = key => ({ outcome: 'delivered', restMs: () => (key.startsWith('storm/') ? 1_000 : 0) });
    for (let key = 0; key < 40; key += 1) world.add(`storm/${key}`);
    await world.clock.advance(100);
    expect(world.tries).toHaveLength(4);
    world.add('calm/0');
    await world.clock.advance(10);
    expect(world.of('calm/0')).toHaveLength(1);
    await world.clock.advance(10_000);
    expect(world.lost()).toEqual([]);
    expect(world.wrongs).toEqual([]);
  });

  test('what comes at a pace of its own leaves its place at once', async () => {
    const world = new World(1, 8);
    world.answer = () => ({ outcome: 'delivered', restMs: () => 60_000 });
    for (let key = 0; key < 40; key += 1) {
      world.queue.add(`all/${key}`, { isPaced: true });
      await world.clock.advance(100);
    }
    expect(world.tries).toHaveLength(40);
    for (let key = 0; key < 40; key += 1) world.add(`all/${key}`);
    await world.clock.advance(1_000);
    expect(world.tries).toHaveLength(44);
  });

  test('no more deliveries at once than allowed, and all in the end', async () => {
    const world = new World(1, 4);
    for (let key = 0; key < 100; key += 1) world.add(`k${key}`);
    expect(world.underWay).toBe(4);
    await world.clock.advance(1_000);
    expect(world.wrongs).toEqual([]);
    expect(world.lost()).toEqual([]);
    expect(world.tries).toHaveLength(100);
  });

  test('intervals grow to their limit and fall back when quiet', () => {
    expect(nextInterval(defaultTimings, { interval: 100, stillMs: 100 })).toBe(300);
    expect(nextInterval(defaultTimings, { interval: 2_700, stillMs: 2_700 })).toBe(3_000);
    expect(nextInterval(defaultTimings, { interval: 3_000, stillMs: 12_000 })).toBe(100);
  });

  test('back-off doubles to its limit, and chance takes off at most half', () => {
    const waits = [1, 2, 3, 10, 2_000].map(failures =>
      jitteredBackoffMs({ firstMs: 250, maxMs: 5_000 }, failures, 0),
    );
    expect(waits).toEqual([250, 500, 1_000, 5_000, 5_000]);
    expect(jitteredBackoffMs({ firstMs: 250, maxMs: 5_000 }, 1, 0.999)).toBeGreaterThan(125);
  });
});

describe('outage', () => {
  test('every key is kept, tries are few, and all get through when it ends', async () => {
    const world = new World();
    world.answer = () => unavailable;
    for (let key = 0; key < 50; key += 1) world.add(`k${key}`);
    await world.clock.advance(60_000);
    expect(world.queue.stats()).toMatchObject({ waiting: 50, reachable: false, delivered: 0 });
    // Each key once, and then one probe at a time with at most 5 s between them.
    expect(world.tries.length).toBeGreaterThanOrEqual(50 + 60 / 5);
    expect(world.tries.length).toBeLessThan(50 + 35);
    world.answer = () => delivered;
    await world.clock.advance(6_000);
    expect(world.lost()).toEqual([]);
    expect(world.queue.stats()).toMatchObject({ waiting: 0, reachable: true, delivered: 50 });
    expect(world.queue.undelivered()).toEqual([]);
    expect(world.wrongs).toEqual([]);
  });

  test('what waits is told with since when, and why', async () => {
    const world = new World();
    world.answer = () => unavailable;
    await world.clock.advance(1_000);
    world.add('a');
    expect(world.queue.undelivered()).toEqual([]);
    await world.clock.advance(4_000);
    expect(world.queue.undelivered()).toEqual([{ key: 'a', since: 1_000, code: 'UNAVAILABLE' }]);
    expect(world.queue.lastDelivered('a')).toBe(false);
    world.answer = () => delivered;
    await world.clock.advance(6_000);
    expect(world.queue.undelivered()).toEqual([]);
    expect(world.queue.lastDelivered('a')).toBe(true);
    expect(world.queue.lastDelivered('b')).toBeUndefined();
  });

  test('one workflow that never takes its signal does not hold up the others', async () => {
    const world = new World();
    world.answer = key => (key === 'sick' ? unavailable : delivered);
    world.latency = key => (key === 'sick' ? 5_000 : 5);
    const waits: number[] = [];
    for (let round = 0; round < 60; round += 1) {
      world.add('sick');
      const key = `k${round}`;
      world.add(key);
      const added = world.clock.now();
      await world.clock.advance(1_000);
      expect(world.queue.stats().reachable).toBe(true);
      waits.push((world.of(key)[0] ?? Number.POSITIVE_INFINITY) - added);
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(10);
    expect(world.of('sick').length).toBeLessThan(10);
    world.answer = () => delivered;
    await world.clock.advance(120_000);
    expect(world.lost()).toEqual([]);
  });

  test('a key that is refused is tried ever more rarely, alone', async () => {
    const world = new World();
    world.answer = key => (key === 'bad' ? refused : delivered);
    world.add('bad');
    world.add('good');
    await world.clock.advance(300_000);
    expect(world.queue.stats().reachable).toBe(true);
    expect(world.of('good')).toHaveLength(1);
    expect(world.of('bad').length).toBeGreaterThan(5);
    expect(world.of('bad').length).toBeLessThan(20);
    expect(world.queue.undelivered()).toEqual([{ key: 'bad', since: 0, code: 'INVALID_ARGUMENT' }]);
  });
});

describe('stop', () => {
  test('is final: neither what waits nor what comes later is delivered', async () => {
    const world = new World(1, 2);
    for (let key = 0; key < 10; key += 1) world.add(`k${key}`);
    world.stopped = true;
    const stopped = world.queue.stop(2_000);
    world.add('late');
    await world.clock.advance(60_000);
    await stopped;
    expect(world.wrongs).toEqual([]);
    expect(world.tries).toHaveLength(2);
    expect(world.clock.pending).toBe(0);
  });

  test('waits for what is under way, and aborts it when that takes too long', async () => {
    const world = new World();
    world.latency = () => 60_000;
    world.add('a');
    let done = false;
    const stopped = world.queue.stop(2_000).then(() => {
      done = true;
    });
    await world.clock.advance(1_999);
    expect(done).toBe(false);
    await world.clock.advance(1);
    await settle();
    expect(done).toBe(true);
    await stopped;
    expect(world.tries).toEqual([{ key: 'a', at: 0, outcome: 'unavailable' }]);
  });

  test('during an outage leaves no timer', async () => {
    const world = new World();
    world.answer = () => unavailable;
    for (let key = 0; key < 5; key += 1) world.add(`k${key}`);
    await world.clock.advance(3_000);
    const stopped = world.queue.stop(1_000);
    await world.clock.advance(1_000);
    await stopped;
    world.stopped = true;
    await world.clock.advance(60_000);
    expect(world.wrongs).toEqual([]);
  });
});

describe('memory', () => {
  test('a sweep drops quiet keys and nothing that waits', async () => {
    const world = new World();
    world.answer = key => (key === 'bad' ? refused : delivered);
    for (let key = 0; key < 20; key += 1) world.add(`k${key}`);
    world.add('bad');
    await world.clock.advance(700_000);
    world.add('k0');
    await world.clock.advance(10);
    world.queue.sweep(600_000);
    expect(world.queue.stats().keys).toBe(2);
    world.answer = () => delivered;
    await world.clock.advance(60_000);
    expect(world.lost()).toEqual([]);
  });
});

type Step =
  | { readonly do: 'add'; readonly key: number; readonly how: AddOptions }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'answer'; readonly key: number; readonly with: Delivery }
  | { readonly do: 'all'; readonly with: Delivery }
  | { readonly do: 'latency'; readonly ms: number }
  | { readonly do: 'sweep' }
  /** Until the next of the same key. */
  | { readonly do: 'retract'; readonly key: number };

const answers = fc.constantFrom(delivered, unavailable, refused, held);
const ways = fc.constantFrom<AddOptions>(
  {},
  { isBackground: true },
  { isBackground: true, isRetractable: true },
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('add' as const), key: fc.nat(5), how: ways }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        ms: fc.constantFrom(0, 1, 50, 99, 100, 101, 700, 4_000),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('answer' as const), key: fc.nat(5), with: answers }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('all' as const), with: answers }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('latency' as const), ms: fc.constantFrom(0, 1, 100, 5_000) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('retract' as const), key: fc.nat(5) }) },
  ),
  { maxLength: 60 },
);

test('whatever happens in whatever order: no key is lost, none is under way twice, the pace is kept', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (plan, seed) => {
      const world = new World(seed, 3);
      const special = new Map<number, Delivery>();
      let general: Delivery = delivered;
      world.answer = key => special.get(Number(key)) ?? general;
      for (const step of plan) {
        if (step.do === 'add') world.add(String(step.key), step.how);
        else if (step.do === 'wait') await world.clock.advance(step.ms);
        else if (step.do === 'answer') special.set(step.key, step.with);
        else if (step.do === 'latency') world.latency = () => step.ms;
        else if (step.do === 'sweep') world.queue.sweep(0);
        else if (step.do === 'retract') {
          const key = String(step.key);
          if (!world.retracted.delete(key)) world.retracted.add(key);
        } else {
          special.clear();
          general = step.with;
        }
      }
      special.clear();
      general = delivered;
      world.latency = () => 5;
      await world.clock.advance(70_000);
      expect(world.lost()).toEqual([]);
      expect(world.wrongs).toEqual([]);
      expect(world.queue.stats()).toMatchObject({ waiting: 0, inFlight: 0, reachable: true });
      const keys = plan.some(step => step.do === 'sweep') ? [] : [...world.lastAdd.keys()];
      const gaps = keys.flatMap(key => world.gaps(key));
      expect(gaps.filter(gap => gap < 100)).toEqual([]);
    }),
    { numRuns: 300 },
  );
}, 60_000);
