import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallReport } from '../../src/kube/calls.ts';
import {
  isAborted,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNotFound,
  KubeError,
} from '../../src/kube/errors.ts';
import { poll } from '../stack/poll.ts';
import { type Bench, clientOf, faults, openBench, pod, podRef, pods } from './support.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const failure = async (call: Promise<unknown>): Promise<KubeError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof KubeError) return error;
  throw new Error(`not a KubeError: ${inspect(error)}`);
};

describe('verbs', { timeout: 120_000 }, () => {
  it('create, get, list, delete', async () => {
    const { client } = bench;
    expect(await client.get(podRef('a'))).toBeUndefined();
    const made = await client.create(pod('a'));
    expect(await client.get(podRef('a'))).toEqual(made);
    expect(await client.list(pods)).toEqual({
      items: [made],
      resourceVersion: made.metadata.resourceVersion,
    });
    expect((await client.list(pods, { namespace: 'other' })).items).toEqual([]);
    expect((await client.list(pods, { labelSelector: 'app=x' })).items).toEqual([]);
    expect(await failure(client.create(pod('a')))).toSatisfy(isAlreadyExists);
    expect(await failure(client.delete(podRef('a'), { uid: 'other' }))).toSatisfy(isConflict);
    await client.delete(podRef('a'), { uid: made.metadata.uid });
    await client.delete(podRef('a'));
    expect(bench.server.kube.all('Pod')).toEqual([]);
  });

  it('patch, replace, dry run', async () => {
    const { client } = bench;
    const made = await client.create(pod('a'));
    await client.create(pod('dry'), { dryRun: true });
    const merged = await client.patch(podRef('a'), { spec: { nodeName: 'n1' } }, { type: 'merge' });
    expect(merged['spec']).toEqual({ containers: [], nodeName: 'n1' });
    await client.patch(podRef('a'), [{ op: 'remove', path: '/spec/nodeName' }], { type: 'json' });
    expect(await failure(client.replace(made))).toSatisfy(isConflict);
    await client.patch(
      podRef('a'),
      { status: { phase: 'Running' } },
      { type: 'merge', subresource: 'status' },
    );
    expect(bench.server.kube.all('Pod')).toEqual([
      expect.objectContaining({ spec: { containers: [] }, status: { phase: 'Running' } }),
    ]);
    expect(await failure(client.patch(podRef('none'), {}, { type: 'merge' }))).toSatisfy(isNotFound);
  });

  it('apply and status apply, with our field manager', async () => {
    const { client, server } = bench;
    await client.apply({
      ...pod('a'),
      metadata: { ...pod('a').metadata, managedFields: [{ manager: 'x' }] },
    });
    await client.apply({ ...pod('a'), status: { phase: 'Running' } }, { subresource: 'status' });
    expect(server.kube.peek(podRef('a'))).toMatchObject({
      spec: { containers: [] },
      status: { phase: 'Running' },
    });
    await server.kube.as('kubectl').apply(pod('a', { nodeName: 'theirs' }));
    expect(await failure(client.apply(pod('a', { nodeName: 'ours' }), { force: false }))).toSatisfy(
      isConflict,
    );
    const [first, second] = server.requests;
    expect(first?.query.toString()).toBe('fieldManager=etcd-operator&force=true');
    expect(first?.contentType).toBe('application/apply-patch+yaml');
    expect(JSON.parse(first?.body ?? '')).toEqual(pod('a'));
    expect(second?.path).toBe('/api/v1/namespaces/default/pods/a/status');
    expect(Object.keys(JSON.parse(second?.body ?? '{}') as object)).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'status',
    ]);
  });

  it('keeps fields of a pod template that no client of today knows', async () => {
    const { client } = bench;
    const template = {
      spec: { containers: [{ name: 'etcd', newFieldIn2031: { deep: [1, null, 'x'] } }], ünknown: true },
    };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 's', namespace: 'default' },
      spec: { template },
    };
    await client.apply(set);
    const read = await client.get({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      namespace: 'default',
      name: 's',
    });
    expect(read?.['spec']).toEqual({ template });
    const replaced = await client.replace(read ?? set);
    expect(replaced['spec']).toEqual({ template });
  });

  it('refuses requests that would reach something else', async () => {
    const { client, server } = bench;
    for (const ref of [
      podRef(''),
      podRef('..'),
      { ...pods, name: 'a' },
      { apiVersion: 'v1', kind: 'Nonsense', name: 'a' },
    ]) {
      expect((await failure(client.delete(ref))).reason).toBe('BadRequest');
    }
    await client.get(podRef('a/../b')).catch(() => {});
    expect(server.requests.map(request => request.path)).toEqual([
      '/api/v1/namespaces/default/pods/a%2F..%2Fb',
    ]);
  });
});

it.each(['.', '..'])('nothing is called "%s", and nothing else is found by it', async name => {
  expect(await bench.client.get(podRef(name))).toBeUndefined();
  expect(bench.server.count('get')).toBe(0);
});

describe('failures', { timeout: 120_000 }, () => {
  it('are distinguished, with causes', async () => {
    const { client, server } = bench;
    const status = {
      kind: 'Status',
      code: 422,
      reason: 'Invalid',
      message: 'Pod "a" is invalid: spec.x: Required value',
      details: { causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.x' }] },
    };
    server.fail('create', (_request, response) => {
      response.writeHead(422).end(JSON.stringify(status));
      return true;
    });
    const invalid = await failure(client.create(pod('a')));
    expect(invalid).toMatchObject({ code: 422 });
    expect(invalid).toMatchObject({
      retry: 'never',
      causes: status.details.causes,
      message: expect.stringContaining('spec.x: Required value'),
    });
    server.fail('create', faults.status(403, 'Forbidden', { message: 'pods is forbidden' }));
    expect(await failure(client.create(pod('a')))).toSatisfy(isForbidden);
    expect(server.count('create')).toBe(2);
  });

  it.each([
    ['a 503', faults.status(503, 'ServiceUnavailable')],
    ['a 429', faults.status(429, 'TooManyRequests', { retryAfterSeconds: 0 })],
    ['a 500', faults.status(500, 'InternalError')],
    ['a reset', faults.reset],
    ['a body that ends too soon', faults.body('{"kind":"Pod"', 'reset')],
    ['an answer that is cut', faults.body('{"kind":"Pod"')],
  ])('%s: idempotent calls are repeated', async (what, fault) => {
    const { client, server } = bench;
    await client.create(pod('a'));
    for (const verb of ['get', 'apply', 'replace', 'patch', 'delete', 'list']) server.fail(verb, fault);
    await client.get(podRef('a'));
    await client.apply(pod('a'));
    await client.replace({ ...pod('a') });
    await client.patch(podRef('a'), {}, { type: 'merge' });
    await client.list(pods);
    await client.delete(podRef('a'));
    for (const verb of ['get', 'apply', 'replace', 'patch', 'list']) expect(server.count(verb)).toBe(2);
    // Of the answer to a deletion the status alone counts.
    expect(server.count('delete')).toBe(what === 'an answer that is cut' ? 1 : 2);
  });

  it('create and JSON patch are repeated only when they surely had no effect', async () => {
    const { client, server } = bench;
    for (const fault of [faults.reset, faults.status(500, 'InternalError')]) {
      server.fail('create', fault);
      expect((await failure(client.create(pod('a')))).retry).toBe('later');
    }
    expect(server.count('create')).toBe(2);
    server.fail('create', faults.status(429, 'TooManyRequests', { retryAfterSeconds: 0 }));
    await client.create(pod('a'));
    server.fail('patch', faults.reset);
    await failure(client.patch(podRef('a'), [], { type: 'json' }));
    expect(server.count('patch')).toBe(1);
  });

  it('create is repeated when the connection was refused', async () => {
    const { server } = bench;
    const calls: CallReport[] = [];
    const retry = { backoff: { firstMs: 5, maxMs: 50 }, attempts: 10_000 };
    const client = clientOf(server, { retry, report: call => calls.push(call) });
    await server.down();
    const created = client.create(pod('a'));
    await poll(async () => calls.length > 0);
    await server.up();
    await created;
    await client.close();
    expect(calls[0]?.code).toBe(0);
    expect(server.kube.all('Pod')).toHaveLength(1);
  });

  it('give up after some attempts, and within the deadline', async () => {
    const { client, server } = bench;
    server.fail('get', faults.status(503, 'ServiceUnavailable'), 100);
    expect(await failure(client.get(podRef('a')))).toMatchObject({ code: 503, retry: 'later' });
    expect(server.count('get')).toBe(4);
    server.heal();
    server.fail('get', faults.status(429, 'TooManyRequests', { retryAfterSeconds: 30 }), 100);
    const started = performance.now();
    expect(await failure(client.get(podRef('a'), { timeoutMs: 2_000 }))).toMatchObject({
      code: 429,
      retryAfterMs: 30_000,
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('a refused eviction is an answer', async () => {
    bench.server.fail('any', (_request, response) => {
      const details = { causes: [{ reason: 'DisruptionBudget', message: 'no' }] };
      response
        .writeHead(429)
        .end(JSON.stringify({ kind: 'Status', code: 429, reason: 'TooManyRequests', details }));
      return true;
    });
    const eviction = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'default' } };
    expect((await failure(bench.client.create(eviction))).code).toBe(429);
    expect(bench.server.requests).toHaveLength(1);
  });

  it('a silent server costs one attempt, then the next connection is used', async () => {
    const client = clientOf(bench.server, { attemptTimeoutMs: 500 });
    bench.server.fail('get', faults.hang);
    bench.server.fail('get', faults.body('{', 'stayOpen'));
    expect(await client.get(podRef('a'))).toBeUndefined();
    expect(bench.server.count('get')).toBeGreaterThanOrEqual(3);
    bench.server.fail('get', faults.hang, 100);
    expect(await failure(client.get(podRef('a'), { timeoutMs: 150 }))).toMatchObject({
      reason: 'Timeout',
      retry: 'later',
    });
    await client.close();
  });

  it('an abort by the caller ends a call at once', async () => {
    bench.server.fail('get', faults.hang);
    const stop = new AbortController();
    const call = failure(bench.client.get(podRef('a'), { signal: stop.signal }));
    setTimeout(() => stop.abort(), 20);
    expect(await call).toSatisfy(isAborted);
    expect(await failure(bench.client.get(podRef('a'), { signal: stop.signal }))).toSatisfy(isAborted);
  });

  it('a closed client refuses', async () => {
    await bench.client.close();
    expect(await failure(bench.client.get(podRef('a')))).toSatisfy(isAborted);
  });
});

describe('connections', { timeout: 120_000 }, () => {
  it('are fewer than 20 for 1,000 calls, 50 at a time', async () => {
    const { client, server } = bench;
    server.kube.seed(pod('a'));
    let left = 1_000;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await client.get(podRef('a'));
      }
    };
    await Promise.all(Array.from({ length: 50 }, worker));
    expect(server.requests).toHaveLength(1_000);
    expect(server.connections).toBeLessThan(20);
  });

  it('of watches do not keep calls waiting', async () => {
    const { client, server } = bench;
    const stop = new AbortController();
    const watches = Array.from({ length: 30 }, async () => {
      const options = {
        resourceVersion: '1',
        timeoutSeconds: 60,
        idleTimeoutMs: 60_000,
        signal: stop.signal,
      };
      for await (const event of client.watch(pods, options)) if (event.type === 'ERROR') break;
    });
    while (server.openWatches < 30) await new Promise(resolve => setTimeout(resolve, 5));
    await client.create(pod('a'), { timeoutMs: 10_000 });
    stop.abort();
    for (const result of await Promise.allSettled(watches))
      expect(result).toMatchObject({ reason: { reason: 'Aborted' } });
    while (server.openWatches > 0) await new Promise(resolve => setTimeout(resolve, 5));
  });
});

describe('secrets', { timeout: 120_000 }, () => {
  it('are in no error and no client, however they are printed', async () => {
    const calls: CallReport[] = [];
    const client = clientOf(bench.server, {
      report: call => calls.push(call),
      retry: { backoff: { firstMs: 1, maxMs: 1 }, attempts: 1 },
    });
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'default' },
      data: { password: 'aHVudGVyMg==' },
    };
    const errors: KubeError[] = [];
    for (const fault of [
      faults.status(422, 'Invalid', { message: 'data.password: Invalid value: "aHVudGVyMg=="' }),
      faults.status(500, 'InternalError', { message: `token ${bench.server.token}` }),
      faults.body('aHVudGVyMg=='),
      faults.reset,
      faults.status(401, 'Unauthorized'),
    ]) {
      bench.server.fail('any', fault);
      errors.push(await failure(client.create(secret)));
    }
    bench.server.fail(
      'any',
      faults.status(500, 'InternalError', { message: `you sent ${bench.server.token}` }),
    );
    errors.push(await failure(client.get(podRef('a'))));
    await bench.server.down();
    errors.push(await failure(client.create(secret)));
    await bench.server.up();
    // The last is how a Buffer with "-----BEGIN" is printed.
    const hidden = [bench.server.token, 'aHVudGVyMg==', 'PRIVATE KEY', 'Bearer ', '2d 2d 2d 2d 2d 42 45'];
    for (const thing of [...errors, client, calls]) {
      const texts = [inspect(thing, { depth: 20, showHidden: true }), JSON.stringify(thing)];
      if (thing instanceof KubeError) texts.push(thing.message, thing.stack ?? '');
      for (const text of texts) for (const word of hidden) expect(text).not.toContain(word);
    }
    await client.close();
  });
});
