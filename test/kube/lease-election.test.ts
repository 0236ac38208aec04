import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { type LeaseRecord, microTime, readLease } from '../../src/kube/lease.ts';
import { LeaseElection } from '../../src/kube/lease-election.ts';
import type { ElectionOptions } from '../../src/kube/lease-election.ts';
import type { CallOptions, WatchEvent, WritableObject } from '../../src/kube/port.ts';
import { FakeKube, fault } from '../fakes/kubernetes/kube.ts';

const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'ops', name: 'etcd-operator' };
/** Long enough that a busy machine does not make a leader miss its deadline. */
const timing = { leaseDurationMs: 2_000, renewDeadlineMs: 1_500, renewEveryMs: 50, retryPeriodMs: 50 };
const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });

/** An apiserver, and candidates that are stopped after the test. */
class Stage {
  readonly log: string[] = [];
  readonly kube = new FakeKube();
  readonly #candidates: LeaseElection[] = [];

  candidate(identity: string, options: Partial<ElectionOptions> = {}): LeaseElection {
    const election = new LeaseElection({
      client: this.client((kind, options) => this.#watch(kind, options)),
      namespace: 'ops',
      name: 'etcd-operator',
      identity,
      timing,
      onStartedLeading: () => this.log.push(`${identity} leads`),
      onStoppedLeading: because => this.log.push(`${identity} ${because}`),
      ...options,
    });
    this.#candidates.push(election);
    return election;
  }

  /** A candidate that leads already. */
  async leader(identity: string, options: Partial<ElectionOptions> = {}): Promise<LeaseElection> {
    const election = this.candidate(identity, options);
    election.start();
    await vi.waitUntil(() => election.isLeader, { timeout: 20_000, interval: 5 });
    return election;
  }

  /** Watches that are open. */
  readonly watchers = { count: 0 };

  lease(): LeaseRecord {
    return readLease(this.kube.peek(ref) ?? { apiVersion: '', kind: '', metadata: { name: '' } }).record;
  }

  /** A way to the apiserver that can be cut. */
  line(): { client: ElectionOptions['client']; cut: (how: 'error' | 'hang' | undefined) => void } {
    let how: 'error' | 'hang' | undefined;
    const pass = async <T>(options: CallOptions | undefined, call: () => Promise<T>): Promise<T> => {
      if (how === undefined) return call();
      if (how === 'hang') await delay(options?.timeoutMs);
      throw fault(0, 'NetworkError');
    };
    const { kube } = this;
    const client: ElectionOptions['client'] = {
      get: (at, options) => pass(options, () => kube.get(at, options)),
      create: (object, options) => pass(options, () => kube.create(object, options)),
      replace: (object, options) => pass(options, () => kube.replace(object, options)),
      watch: (kind, options) => kube.watch(kind, options),
    };
    return {
      client,
      cut: next => {
        how = next;
      },
    };
  }

  /** A way to the apiserver on which every second write of a lease that is there never arrives and is never answered. */
  hangs(): { client: ElectionOptions['client']; hang: { readonly count: number } } {
    const hang = { count: 0 };
    let writes = 0;
    const { kube } = this;
    const replace: ElectionOptions['client']['replace'] = async (object, options) => {
      writes += 1;
      if (writes % 2 === 1) return kube.replace(object, options);
      hang.count += 1;
      await delay(options?.timeoutMs, undefined, { signal: options?.signal });
      throw fault(0, 'Timeout');
    };
    return { client: { get: kube.get, create: kube.create, watch: kube.watch, replace }, hang };
  }

  /** The apiserver, with another way to watch it. */
  client(watch: Watch): ElectionOptions['client'] {
    const { get, create, replace } = this.kube;
    return { get, create, replace, watch };
  }

  async *#watch(
    ...[kind, options]: Parameters<ElectionOptions['client']['watch']>
  ): AsyncIterable<WatchEvent> {
    this.watchers.count += 1;
    yield* this.kube.watch(kind, options);
    this.watchers.count -= 1;
  }

  async close(): Promise<void> {
    await Promise.all(this.#candidates.map(election => election.stop()));
  }
}

type Watch = ElectionOptions['client']['watch'];

/** Watches that do not say what they should. */
const BROKEN_WATCHES: Readonly<Record<string, (kube: FakeKube) => Watch>> = {
  'the role does not let it watch': () => () => {
    throw fault(403, 'Forbidden');
  },
  'its watch never brings anything': () =>
    async function* silent(_, { signal }) {
      await delay(600_000, undefined, { signal });
      yield* [];
    },
  'its watches end at once': () => async function* short() {},
  'its watches begin too long ago': () =>
    async function* old() {
      yield {
        type: 'ERROR',
        object: { apiVersion: 'v1', kind: 'Status', code: 410, reason: 'Expired', metadata: { name: '' } },
      };
    },
  'its watch brings what was true long ago': kube =>
    async function* late() {
      const lease = kube.peek(ref);
      for (;;) {
        await delay(300);
        if (lease !== undefined) yield { type: 'MODIFIED', object: lease };
      }
    },
};

/** A test body with a stage of its own: tests run side by side, since they wait more than they work. */
const staged = (play: (stage: Stage) => Promise<void>) => async (): Promise<void> => {
  const stage = new Stage();
  try {
    await play(stage);
  } finally {
    await stage.close();
  }
};

describe('lease election', { timeout: 120_000 }, () => {
  it.concurrent(
    'makes one of two leader, who renews',
    staged(async stage => {
      const [a, b] = [stage.candidate('a'), stage.candidate('b')];
      a.start();
      b.start();
      await until(() => expect(stage.log).toHaveLength(1));
      const { holder, acquireTime, renewTime } = stage.lease();
      expect([a.isLeader, b.isLeader].filter(Boolean)).toHaveLength(1);
      await until(() => expect(stage.lease().renewTime).not.toBe(renewTime));
      await delay(2_500);
      expect(stage.log).toHaveLength(1);
      expect(stage.lease()).toMatchObject({ holder, acquireTime, transitions: 0, durationSeconds: 2 });
      expect(b.holder).toBe(a.holder);
    }),
  );

  it.concurrent(
    'costs one request a renewal while nothing changes, and nothing of those that wait',
    staged(async stage => {
      const a = await stage.leader('a');
      const others = ['b', 'c'].map(identity => stage.candidate(identity));
      for (const other of others) other.start();
      await until(() => expect(others.map(({ holder }) => holder)).toEqual(['a', 'a']));
      await until(() => expect(stage.watchers.count).toBe(2));
      const before = stage.kube.calls.length;
      await until(() => expect(stage.kube.calls.length - before).toBeGreaterThan(60));
      expect(new Set(stage.kube.calls.slice(before).map(call => call.verb))).toEqual(new Set(['replace']));
      expect([a, ...others].map(({ isLeader }) => isLeader)).toEqual([true, false, false]);
    }),
  );

  for (const [what, watch] of Object.entries(BROKEN_WATCHES)) {
    it.concurrent(
      `leaves the lease to who renews it, and takes it when that ends, though ${what}`,
      staged(async stage => {
        const { client, cut } = stage.line();
        await stage.leader('a', { client });
        const b = stage.candidate('b', { client: stage.client(watch(stage.kube)) });
        b.start();
        await delay(5_000);
        expect(stage.log).toEqual(['a leads']);
        cut('error');
        await until(() => expect(stage.log).toEqual(['a leads', 'a lost', 'b leads']));
      }),
    );
  }

  it.concurrent(
    'stays leader when a user edits or deletes the lease',
    staged(async stage => {
      const a = await stage.leader('a');
      stage.kube.mutate(ref, object => {
        object.metadata.labels = { keep: 'me' };
      });
      const { renewTime } = stage.lease();
      await until(() => expect(stage.lease().renewTime).not.toBe(renewTime));
      expect(stage.kube.peek(ref)?.metadata.labels).toEqual({ keep: 'me' });
      await stage.kube.delete(ref);
      await until(() => expect(stage.kube.peek(ref)).toBeDefined());
      expect(stage.lease()).toMatchObject({ holder: 'a' });
      expect(a.isLeader).toBe(true);
      expect(stage.log).toEqual(['a leads']);
    }),
  );

  it.concurrent(
    'takes a lease over when it runs out, not at the look after that',
    staged(async stage => {
      const slow = {
        leaseDurationMs: 2_000,
        renewDeadlineMs: 1_950,
        renewEveryMs: 1_900,
        retryPeriodMs: 1_900,
      };
      const spec = { holderIdentity: 'dead', leaseDurationSeconds: 2, leaseTransitions: 0 };
      stage.kube.seed({ ...ref, metadata: { name: ref.name, namespace: ref.namespace }, spec });
      const started = performance.now();
      await stage.leader('a', { timing: slow });
      // A second look just before that moment, and a third a whole period later, would make it 3 s and more.
      expect(performance.now() - started).toBeGreaterThanOrEqual(2_000);
      expect(performance.now() - started).toBeLessThan(3_000);
    }),
  );

  it.concurrent(
    'hands over at once when the leader stops, in order',
    staged(async stage => {
      const a = await stage.leader('a');
      const b = stage.candidate('b');
      b.start();
      await until(() => expect(b.holder).toBe('a'));
      const started = performance.now();
      await a.stop();
      expect(a.isLeader).toBe(false);
      await until(() => expect(b.isLeader).toBe(true));
      // Without the lease having to run out.
      expect(performance.now() - started).toBeLessThan(1_500);
      expect(stage.log).toEqual(['a leads', 'a stopped', 'b leads']);
      expect(stage.lease()).toMatchObject({ holder: 'b', transitions: 1 });
    }),
  );

  it.concurrent(
    'counts a lease from its last renewal as it was seen, and no candidate is early',
    staged(async stage => {
      const { client, cut } = stage.line();
      await stage.leader('a', { client, timing: { ...timing, renewEveryMs: 400 } });
      const others = ['b', 'c'].map(identity => stage.candidate(identity));
      for (const other of others) other.start();
      let renewed = 0;
      stage.kube.intercept(({ verb }) => {
        if (verb === 'replace' && stage.log.length === 1) renewed = performance.now();
      });
      const { renewTime } = stage.lease();
      await until(() => expect(stage.lease().renewTime).not.toBe(renewTime));
      cut('error');
      const cutAt = renewed;
      await until(() => expect(stage.log).toHaveLength(3));
      expect(performance.now() - cutAt).toBeGreaterThanOrEqual(1_990);
      expect(performance.now() - cutAt).toBeLessThan(3_000);
      expect(others.filter(({ isLeader }) => isLeader)).toHaveLength(1);
    }),
  );

  for (const how of ['error', 'hang'] as const) {
    it.concurrent(
      `makes a leader who is cut off (${how}) step down before another may lead`,
      staged(async stage => {
        const { client, cut } = stage.line();
        let signal: AbortSignal | undefined;
        const onStartedLeading = (leading: AbortSignal): void => {
          signal = leading;
          stage.log.push('a leads');
        };
        const a = await stage.leader('a', { client, onStartedLeading });
        const b = stage.candidate('b');
        b.start();
        await until(() => expect(b.holder).toBe('a'));
        cut(how);
        await until(() => expect(stage.log).toContain('b leads'));
        expect(stage.log).toEqual(['a leads', 'a lost', 'b leads']);
        expect(signal?.aborted).toBe(true);
        cut(undefined);
        await b.stop();
        await until(() => expect(a.isLeader).toBe(true));
        expect(stage.log).toEqual(['a leads', 'a lost', 'b leads', 'b stopped', 'a leads']);
      }),
    );
  }

  for (const renewTime of ['2001-01-01T00:00:00.000000Z', '2101-01-01T00:00:00.000000Z']) {
    it.concurrent(
      `waits a whole lease for a leader that died, whose clock had said ${renewTime}`,
      staged(async stage => {
        const times = { renewTime, acquireTime: renewTime };
        const spec = { holderIdentity: 'dead', leaseDurationSeconds: 2, leaseTransitions: 4, ...times };
        const metadata = { name: ref.name, namespace: ref.namespace, labels: { keep: 'me' } };
        stage.kube.seed({ ...ref, metadata, spec });
        const started = performance.now();
        await stage.leader('a');
        expect(performance.now() - started).toBeGreaterThanOrEqual(2_000);
        expect(stage.lease()).toMatchObject({ holder: 'a', transitions: 5 });
        expect(stage.kube.peek(ref)?.metadata.labels).toEqual({ keep: 'me' });
      }),
    );
  }

  it.concurrent(
    'is not moved by jumps of the wall clock',
    staged(async stage => {
      let now = new Date('2026-01-01T00:00:00Z');
      await stage.leader('a', { now: () => now });
      const b = stage.candidate('b', { now: () => new Date('1999-01-01T00:00:00Z') });
      b.start();
      for (const jump of ['2030-01-01T00:00:00Z', '1980-01-01T00:00:00Z']) {
        now = new Date(jump);
        await until(() => expect(stage.lease().renewTime).toBe(jump.replace('Z', '.000000Z')));
        await delay(300);
      }
      expect(stage.log).toEqual(['a leads']);
    }),
  );

  it.concurrent(
    'knows after a long sleep of the process that it may have been replaced',
    staged(async stage => {
      let slept = 0;
      const a = await stage.leader('a', { clock: () => performance.now() + slept });
      slept = 10_000;
      expect(a.isLeader).toBe(false);
      await until(() => expect(a.isLeader).toBe(true));
    }),
  );

  it.concurrent(
    'steps down when another party was put into the lease',
    staged(async stage => {
      await stage.leader('a');
      stage.kube.mutate(ref, object => {
        object['spec'] = { holderIdentity: 'somebody', leaseDurationSeconds: 600 };
      });
      await until(() => expect(stage.log).toEqual(['a leads', 'a lost']));
    }),
  );

  it.concurrent(
    'survives lost races, errors and callbacks that throw',
    staged(async stage => {
      const { kube, log } = stage;
      let races = 3;
      kube.intercept(call => {
        if (call.verb === 'replace' && races > 0) {
          races -= 1;
          throw fault(409, 'Conflict');
        }
        if (call.verb === 'create' && kube.calls.length < 4) throw fault(500, 'InternalError');
      });
      const onStartedLeading = (): void => {
        log.push('a leads');
        throw new Error('callback');
      };
      const a = await stage.leader('a', { onStartedLeading });
      await until(() => expect(races).toBe(0));
      await delay(100);
      expect(a.isLeader).toBe(true);
      expect(log).toEqual(['a leads']);
    }),
  );

  it.concurrent(
    'keeps the lease when renewals hang and others beside them go through',
    staged(async stage => {
      const { client, hang } = stage.hangs();
      await stage.leader('a', { client, timing: { ...timing, patienceMs: 100 } });
      await until(() => expect(hang.count).toBeGreaterThan(15));
      expect(stage.log).toEqual(['a leads']);
    }),
  );

  it.concurrent(
    'keeps the lease when every renewal is answered so late that a wait from its answer would end after the deadline',
    staged(async stage => {
      const { kube } = stage;
      const slow = { leaseDurationMs: 4_000, renewDeadlineMs: 3_000, renewEveryMs: 1_200, patienceMs: 5_000 };
      const renewals = { count: 0 };
      const replace: ElectionOptions['client']['replace'] = async (object, options) => {
        await delay(1_000, undefined, { signal: options?.signal });
        renewals.count += 1;
        return kube.replace(object, options);
      };
      const client = { get: kube.get, create: kube.create, watch: kube.watch, replace };
      await stage.leader('a', { client, timing: { ...timing, ...slow } });
      await until(() => expect(renewals.count).toBe(4));
      expect(stage.log).toEqual(['a leads']);
    }),
  );

  it.concurrent(
    'finds the lease its own when a renewal took effect and its answer never came',
    staged(async stage => {
      const { kube } = stage;
      let lost = 0;
      const replace: ElectionOptions['client']['replace'] = async (object, options) => {
        const written = await kube.replace(object, options);
        if (lost >= 3) return written;
        lost += 1;
        await delay(options?.timeoutMs, undefined, { signal: options?.signal });
        throw fault(0, 'Timeout');
      };
      const client = { get: kube.get, create: kube.create, watch: kube.watch, replace };
      const a = await stage.leader('a', { client, timing: { ...timing, patienceMs: 100 } });
      await until(() => expect(lost).toBe(3));
      const { renewTime } = stage.lease();
      await until(() => expect(stage.lease().renewTime).not.toBe(renewTime));
      expect(a.isLeader).toBe(true);
      expect(stage.log).toEqual(['a leads']);
      expect(stage.lease()).toMatchObject({ holder: 'a', transitions: 0 });
    }),
  );

  it.concurrent(
    'gives back a lease that it won while it was being stopped',
    staged(async stage => {
      const { kube, log } = stage;
      let release = (): void => {};
      const held = new Promise<void>(resolve => {
        release = resolve;
      });
      kube.intercept(call => (call.verb === 'create' ? held : undefined));
      // A create that cannot be called back once it is on its way.
      const create = (object: WritableObject) => kube.create(object);
      const a = stage.candidate('a', {
        client: { get: kube.get, watch: kube.watch, replace: kube.replace, create },
      });
      a.start();
      await until(() => expect(kube.calls.map(call => call.verb)).toContain('create'));
      const stopped = a.stop();
      release();
      await stopped;
      expect(log).toEqual([]);
      expect(stage.lease().holder).toBe('');
      expect(kube.peek(ref)).toBeDefined();
    }),
  );

  it('refuses timings that would let two lead', () => {
    const stage = new Stage();
    for (const wrong of [
      { leaseDurationMs: 1_000, renewDeadlineMs: 1_000 },
      { leaseDurationMs: 1_600 },
      { renewDeadlineMs: 50, retryPeriodMs: 50 },
      { renewDeadlineMs: 1_500, renewEveryMs: 1_500 },
    ]) {
      expect(() => stage.candidate('x', { timing: { ...timing, ...wrong } })).toThrow(RangeError);
    }
  });
});

describe('lease times', () => {
  it('have six decimals, and are read as the text that they are', () => {
    expect(microTime(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05.678000Z');
    const stored = { ...ref, metadata: { name: 'x' }, spec: { renewTime: '2026-01-02T03:04:05.678901Z' } };
    expect(readLease(stored).record).toEqual({
      holder: '',
      durationSeconds: 0,
      acquireTime: undefined,
      renewTime: '2026-01-02T03:04:05.678901Z',
      transitions: 0,
    });
  });
});
