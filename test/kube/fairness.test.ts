import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import { Limiter, type Release } from '../../src/kube/limiter.ts';
import { API_VERSION } from '../../src/api/names.ts';
import { FaultyApiserver } from '../fakes/kubernetes/faulty-apiserver.ts';
import { poll } from '../stack/poll.ts';
import { clientOf, podRef } from './support.ts';

const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

describe('a limiter', () => {
  test('leaves something free as soon as calls have ended, however many ask for more without end', async () => {
    const limiter = new Limiter({ atOnce: 24 });
    const held: Release[] = [];
    for (let slow = 0; slow < 10; slow += 1) {
      for (let call = 0; call < 24; call += 1)
        void limiter.take(`slow-${slow}`).then(done => held.push(done));
    }
    await settled();
    for (const done of held.splice(0)) done();
    await settled();
    expect(limiter.taken()).toBeGreaterThan(10);
    expect(limiter.taken()).toBeLessThan(24);
    (await limiter.take('other'))();
  });

  test('gives keys that wait their places by turns, each in the order of asking', async () => {
    const limiter = new Limiter({ atOnce: 1 });
    let release = await limiter.take('a');
    const order: string[] = [];
    const waiting = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(name =>
      limiter.take(name.charAt(0)).then(next => {
        order.push(name);
        release = next;
      }),
    );
    for (const _ of waiting) {
      release();
      await settled();
    }
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('counts a place that is given back twice once', () => {
    const limiter = new Limiter({ atOnce: 20, perKey: 2 });
    const releases = [limiter.tryTake('a'), limiter.tryTake('a')];
    expect(limiter.tryTake('a')).toBeUndefined();
    releases[0]?.();
    releases[0]?.();
    expect(limiter.taken('a')).toBe(1);
  });

  test('counts what does not wait', () => {
    const limiter = new Limiter({ atOnce: 20, perKey: 1 });
    const releases = [limiter.join('a'), limiter.join('a')];
    expect(limiter.tryTake('a')).toBeUndefined();
    for (const release of releases) release();
    expect(limiter.tryTake('a')).toBeDefined();
  });

  test('is waited for no longer than the signal says, and loses nothing then', async () => {
    const limiter = new Limiter({ atOnce: 1 });
    const done = await limiter.take('a');
    const stop = new AbortController();
    const waiting = limiter.take('b', stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    done();
    expect(limiter.taken()).toBe(0);
    (await limiter.take('b'))();
  });
});

describe('an apiserver that never answers for some namespaces', () => {
  const connections = 12;
  const statusConnections = 4;
  let server: FaultyApiserver;
  let client: ClosableKubeClient;
  let stop: AbortController;

  beforeEach(async () => {
    server = await FaultyApiserver.start();
    stop = new AbortController();
    server.fail('any', request => request.namespace?.startsWith('slow') === true, Number.POSITIVE_INFINITY);
    const limits = { attemptTimeoutMs: 60_000, timeoutMs: 60_000 };
    client = clientOf(server, { ...limits, connections, statusConnections });
  });

  afterEach(async () => {
    stop.abort();
    await client.close();
    await server.stop();
  });

  /** As many calls as there could be passes, none of which is ever answered. */
  async function pressure(of: Pick<ClosableKubeClient, 'get'>): Promise<void> {
    for (let call = 0; call < 100; call += 1)
      of.get(
        { ...podRef(`p-${call}`), namespace: `slow-${call % 3}` },
        { signal: stop.signal, timeoutMs: 60_000 },
      ).catch(() => undefined);
    await poll(async () => server.count('get') >= 8);
  }

  const others = (of: Pick<ClosableKubeClient, 'get'>, timeoutMs: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        of.get({ ...podRef('p'), namespace: `team-${index}` }, { timeoutMs }),
      ),
    );

  test('holds up no call of another namespace, and no status', async () => {
    await pressure(client);
    await others(client, 20_000);
    const metadata = { namespace: 'team', name: 'example' };
    const [cluster] = server.kube.seed({ apiVersion: API_VERSION, kind: 'EtcdCluster', metadata });
    const status = { phase: 'Running' };
    const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', ...metadata };
    await client.patch(ref, { status }, { type: 'merge', subresource: 'status' });
    expect(server.kube.peek(ref)).toMatchObject({ status, metadata: { uid: cluster?.metadata.uid } });
  });

  test.each(['patch', 'replace', 'apply'] as const)('holds up the status of no other, of a %s', async how => {
    const object = (namespace: string, index: number) => ({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { namespace, name: `c-${index}` },
    });
    const write = (namespace: string, index: number, timeoutMs: number): Promise<unknown> => {
      const at = object(namespace, index);
      const options = { subresource: 'status', timeoutMs, signal: stop.signal } as const;
      if (how === 'patch')
        return client.patch({ ...at, ...at.metadata }, { status: {} }, { ...options, type: 'merge' });
      return client[how]({ ...at, status: { phase: 'Running' } }, options);
    };
    for (let index = 0; index < 20; index += 1)
      write(`slow-${index % 2}`, index, 60_000).catch(() => undefined);
    await poll(async () => server.count(how) >= 2);
    server.kube.seed(...Array.from({ length: 20 }, (_, index) => object(`team-${index}`, index)));
    await Promise.all(Array.from({ length: 20 }, (_, index) => write(`team-${index}`, index, 20_000)));
  });

  test('says why a call had no answer', async () => {
    await pressure(client);
    await expect(
      client.get({ ...podRef('p'), namespace: 'slow-1' }, { timeoutMs: 50 }),
    ).rejects.toMatchObject({
      reason: 'Timeout',
      retry: 'later',
      notProcessed: true,
      message: expect.stringContaining('slow-1'),
    });
  });
});
