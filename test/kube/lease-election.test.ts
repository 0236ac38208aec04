import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { microTime, readLease } from '../../src/kube/lease.ts';
import { type ElectionOptions, LeaseElection } from '../../src/kube/lease-election.ts';
import { FakeKube, fault } from '../support/fake-kube.ts';

const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'ops', name: 'etcd-operator' };
/** A lease of one second: the shortest that a Lease can say. */
const timing = { leaseDurationMs: 1_000, renewDeadlineMs: 400, retryPeriodMs: 50 };

describe('lease election', () => {
  let kube: FakeKube;
  let log: string[];
  let candidates: LeaseElection[];
  const until = (check: () => void) => vi.waitFor(check, { timeout: 5_000, interval: 5 });

  const candidate = (identity: string, options: Partial<ElectionOptions> = {}): LeaseElection => {
    const election = new LeaseElection({
      client: kube,
      namespace: 'ops',
      name: 'etcd-operator',
      identity,
      timing,
      onStartedLeading: () => log.push(`${identity} leads`),
      onStoppedLeading: because => log.push(`${identity} ${because}`),
      ...options,
    });
    candidates.push(election);
    return election;
  };
  /** The calls of one candidate, which can be cut off from the apiserver. */
  const cutOff = (): { client: FakeKube; cut: (how: 'error' | 'hang' | undefined) => void } => {
    let how: 'error' | 'hang' | undefined;
    const guard = async (signal: AbortSignal | undefined, timeoutMs = 1_000): Promise<void> => {
      if (how === 'error') throw fault(0, 'NetworkError');
      if (how === 'hang')
        await delay(timeoutMs, undefined, { signal }).then(() => Promise.reject(fault(0, 'Timeout')));
    };
    const client: Pick<FakeKube, 'get' | 'create' | 'replace'> = {
      get: async (at, options) =>
        guard(options?.signal, options?.timeoutMs).then(() => kube.get(at, options)),
      create: async (object, options) => guard(options?.signal).then(() => kube.create(object, options)),
      replace: async (object, options) => guard(options?.signal).then(() => kube.replace(object, options)),
    };
    return { client: client as FakeKube, cut: next => (how = next) };
  };
  const lease = () =>
    readLease(kube.peek(ref) ?? { apiVersion: '', kind: '', metadata: { name: '' } }).record;

  beforeEach(() => {
    kube = new FakeKube();
    log = [];
    candidates = [];
  });
  afterEach(async () => {
    await Promise.all(candidates.map(election => election.stop()));
  });

  it('makes one of two leader, who renews', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    a.start();
    b.start();
    await until(() => expect(log).toHaveLength(1));
    const first = lease();
    expect([a.isLeader, b.isLeader].filter(Boolean)).toHaveLength(1);
    await until(() => expect(lease().renewTime).not.toBe(first.renewTime));
    await delay(1_200);
    expect(log).toHaveLength(1);
    expect(lease()).toMatchObject({
      holder: first.holder,
      acquireTime: first.acquireTime,
      transitions: 0,
      durationSeconds: 1,
    });
    expect(b.holder).toBe(a.holder);
  });

  it('hands over at once when the leader stops, in order', async () => {
    const a = candidate('a');
    a.start();
    await until(() => expect(a.isLeader).toBe(true));
    const b = candidate('b');
    b.start();
    await until(() => expect(b.holder).toBe('a'));
    const started = performance.now();
    await a.stop();
    expect(a.isLeader).toBe(false);
    await until(() => expect(b.isLeader).toBe(true));
    expect(performance.now() - started).toBeLessThan(300);
    expect(log).toEqual(['a leads', 'a stopped', 'b leads']);
    expect(lease()).toMatchObject({ holder: 'b', transitions: 1 });
  });

  it.each(['error', 'hang'] as const)(
    'a leader cut off from the apiserver (%s) steps down before another may lead',
    async how => {
      const { client, cut } = cutOff();
      let signal: AbortSignal | undefined;
      const a = candidate('a', {
        client,
        onStartedLeading: leading => {
          signal = leading;
          log.push('a leads');
        },
      });
      a.start();
      await until(() => expect(a.isLeader).toBe(true));
      const b = candidate('b');
      b.start();
      await until(() => expect(b.holder).toBe('a'));
      cut(how);
      await until(() => expect(log).toContain('b leads'));
      expect(log).toEqual(['a leads', 'a lost', 'b leads']);
      expect(signal?.aborted).toBe(true);
      cut(undefined);
      await b.stop();
      await until(() => expect(a.isLeader).toBe(true));
      expect(log).toEqual(['a leads', 'a lost', 'b leads', 'b stopped', 'a leads']);
    },
  );

  it('waits a whole lease for a leader that died, whatever its clock had said', async () => {
    for (const renewTime of ['2001-01-01T00:00:00.000000Z', '2101-01-01T00:00:00.000000Z']) {
      kube = new FakeKube();
      const spec = {
        holderIdentity: 'dead',
        leaseDurationSeconds: 1,
        renewTime,
        acquireTime: renewTime,
        leaseTransitions: 4,
      };
      kube.seed({
        ...ref,
        metadata: { name: ref.name, namespace: ref.namespace, labels: { keep: 'me' } },
        spec,
      });
      const a = candidate(`a ${renewTime}`);
      const started = performance.now();
      a.start();
      await until(() => expect(a.isLeader).toBe(true));
      expect(performance.now() - started).toBeGreaterThanOrEqual(1_000);
      expect(performance.now() - started).toBeLessThan(1_500);
      expect(lease()).toMatchObject({ transitions: 5 });
      expect(kube.peek(ref)?.metadata.labels).toEqual({ keep: 'me' });
      await a.stop();
    }
  });

  it('is not moved by jumps of the wall clock', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    const [a, b] = [
      candidate('a', { now: () => now }),
      candidate('b', { now: () => new Date('1999-01-01T00:00:00Z') }),
    ];
    a.start();
    await until(() => expect(a.isLeader).toBe(true));
    b.start();
    for (const jump of ['2030-01-01T00:00:00Z', '1980-01-01T00:00:00Z']) {
      now = new Date(jump);
      await delay(300);
    }
    expect(log).toEqual(['a leads']);
    expect(lease().renewTime).toBe('1980-01-01T00:00:00.000000Z');
  });

  it('knows after a long sleep of the process that it may have been replaced', async () => {
    let slept = 0;
    const a = candidate('a', { clock: () => performance.now() + slept });
    a.start();
    await until(() => expect(a.isLeader).toBe(true));
    slept = 10_000;
    expect(a.isLeader).toBe(false);
    await until(() => expect(a.isLeader).toBe(true));
  });

  it('steps down when somebody else was put into the lease', async () => {
    const a = candidate('a');
    a.start();
    await until(() => expect(a.isLeader).toBe(true));
    kube.mutate(ref, object => {
      object['spec'] = { holderIdentity: 'somebody', leaseDurationSeconds: 600 };
    });
    await until(() => expect(log).toEqual(['a leads', 'a lost']));
  });

  it('survives lost races, errors and callbacks that throw', async () => {
    let races = 3;
    kube.intercept(call => {
      if (call.verb === 'replace' && races > 0) {
        races -= 1;
        throw fault(409, 'Conflict');
      }
      if (call.verb === 'create' && kube.calls.length < 4) throw fault(500, 'InternalError');
    });
    const a = candidate('a', {
      onStartedLeading: () => {
        log.push('a leads');
        throw new Error('callback');
      },
    });
    a.start();
    await until(() => expect(races).toBe(0));
    await delay(100);
    expect(a.isLeader).toBe(true);
    expect(log).toEqual(['a leads']);
  });

  it('gives back a lease that it won while it was being stopped', async () => {
    let release = (): void => {};
    kube.intercept(call =>
      call.verb === 'create' ? new Promise<void>(resolve => (release = resolve)) : undefined,
    );
    const a = candidate('a', {
      client: { get: kube.get, replace: kube.replace, create: object => kube.create(object) },
    });
    a.start();
    await until(() => expect(kube.calls.map(call => call.verb)).toContain('create'));
    const stopped = a.stop();
    release();
    await stopped;
    expect(log).toEqual([]);
    expect(lease().holder).toBe('');
  });

  it('refuses timings that would let two lead', () => {
    for (const wrong of [
      { leaseDurationMs: 1_000, renewDeadlineMs: 1_000 },
      { leaseDurationMs: 1_500 },
      { renewDeadlineMs: 50, retryPeriodMs: 50 },
    ]) {
      expect(() => candidate('x', { timing: { ...timing, ...wrong } })).toThrow(RangeError);
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
