import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKubeClient, type ClosableKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { silentLogger } from '../../src/kube/port.ts';
import { FaultyApiserver } from '../fakes/kubernetes/faulty-apiserver.ts';
import { faultsOf, FaultyProxy, NO_FAULTS } from '../fakes/kubernetes/faulty-proxy.ts';
import { poll } from '../stack/poll.ts';
import { pod, podRef, pods } from './support.ts';

let server: FaultyApiserver;
let proxy: FaultyProxy;
let client: ClosableKubeClient;

beforeEach(async () => {
  server = await FaultyApiserver.start();
  proxy = await FaultyProxy.start({ server: server.url, ca: await readFile(server.file('ca.crt')) });
  await proxy.writeKubeconfig(server.file('through-proxy'), server.token);
  const credentials = new FileCredentials({
    source: { file: server.file('through-proxy') },
    logger: silentLogger,
  });
  client = createKubeClient({ credentials, retry: { backoff: { firstMs: 1, maxMs: 1 }, attempts: 1 } });
});

afterEach(async () => {
  await client.close();
  await proxy.close();
  await server.stop();
});

test('passes calls and watches on', async () => {
  await client.create(pod('a'));
  expect(await client.get(podRef('a'))).toMatchObject({ metadata: { name: 'a' } });
  const { resourceVersion } = await client.list(pods, { namespace: 'default' });
  const seen: string[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    const options = { namespace: 'default', resourceVersion, timeoutSeconds: 60, idleTimeoutMs: 60_000 };
    for await (const event of client.watch(pods, { ...options, signal: stop.signal }))
      seen.push(event.object.metadata.name);
  })().catch(() => undefined);
  await poll(async () => server.openWatches === 1);
  await client.create(pod('b'));
  await poll(async () => seen.includes('b'));
  stop.abort();
  await watching;
  await poll(async () => server.openWatches === 0);
});

test('refuses the share of calls that it is configured to, with both codes', async () => {
  proxy.faults = faultsOf(1);
  await expect(client.get(podRef('a'))).rejects.toMatchObject({ code: 429, retryAfterMs: 1_000 });
  await expect(client.get(podRef('a'))).rejects.toMatchObject({ code: 503 });
  expect(server.count('get')).toBe(0);
  proxy.faults = NO_FAULTS;
  expect(await client.get(podRef('a'))).toBeUndefined();
});

test('a call that was delayed, and given up meanwhile, takes effect late', async () => {
  proxy.faults = { ...NO_FAULTS, delayed: 1, delayMs: 300 };
  const giveUp = new AbortController();
  const created = client.create(pod('late'), { signal: giveUp.signal }).catch((error: unknown) => error);
  await poll(async () => proxy.counts.delayed === 1);
  giveUp.abort();
  expect(await created).toBeInstanceOf(Error);
  await poll(async () => server.kube.peek(podRef('late')) !== undefined);
  expect(proxy.counts).toEqual({ passed: 0, delayed: 1, refused: 0 });
});
