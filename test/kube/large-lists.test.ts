/** Users who may create objects decide how many there are and how large: what is read at once is bounded all the same. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isTooLarge } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { type Bench, clientOf, openBench, pod, pods } from './support.ts';

const MIB = 1024 * 1024;
const SECRET = { apiVersion: 'v1', kind: 'Secret' };
let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

function secret(name: string, text: string) {
  return {
    ...SECRET,
    metadata: { name, namespace: 'default', labels: { of: 'tenant' } },
    data: { text },
  };
}

const sizes = () =>
  bench.server.requests.filter(({ verb }) => verb === 'list').map(({ query }) => query.get('limit'));

it('a page that is too large is asked for again with fewer items, and the rest with as few', async () => {
  const text = 'x'.repeat(MIB);
  for (let i = 0; i < 8; i += 1) bench.server.kube.seed(pod(`p${i}`, { text }));
  const { items } = await bench.client.list(pods, {
    slim: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
  });
  expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(8);
  expect(sizes()).toEqual(['500', '125', '31', '7', ...Array.from({ length: 8 }, () => '1')]);
});

it('a list of so many at most is one page, which says whether there are more', async () => {
  for (let i = 0; i < 3; i += 1) bench.server.kube.seed(pod(`p${i}`, {}));
  const names = async (atMost: number) => {
    const { items, isPartial = false } = await bench.client.list(pods, { atMost });
    return [items.map(({ metadata }) => metadata.name), isPartial];
  };
  expect(await names(2)).toEqual([['p0', 'p1'], true]);
  expect(await names(3)).toEqual([['p0', 'p1', 'p2'], false]);
  expect(sizes()).toEqual(['2', '3']);
});

it('one object is read whatever its size', async () => {
  bench.server.kube.seed(pod('large', { text: 'x'.repeat(6 * MIB) }));
  expect((await bench.client.list(pods)).items).toHaveLength(1);
});

it('a list that is kept whole has an end', async () => {
  const client = clientOf(bench.server, { pageSize: 1 });
  const text = 'x'.repeat(3 * MIB);
  for (let i = 0; i < 25; i += 1) bench.server.kube.seed(pod(`p${i}`, { text }));
  const failed = await client.list(pods, { namespace: 'default' }).catch((error: unknown) => error);
  await client.close();
  expect(failed).toSatisfy(isTooLarge);
  expect(String(failed)).toContain('all objects of kind Pod in namespace default are more than');
});

it('of metadata alone neither a list nor a watch brings more', async () => {
  bench.server.kube.seed(secret('a', 'canary'));
  const seen: KubeObject[] = [];
  const reflector = new Reflector({
    client: bench.client,
    kind: SECRET,
    metadataOnly: true,
    slim: object => {
      seen.push(structuredClone(object));
      return object;
    },
  });
  reflector.start();
  try {
    await reflector.synced();
    bench.server.kube.seed(secret('b', 'canary'));
    await vi.waitFor(() => expect(reflector.store.size).toBe(2), { timeout: 10_000, interval: 5 });
  } finally {
    await reflector.stop();
  }
  expect(JSON.stringify(seen)).not.toContain('canary');
  expect(seen.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name])).toEqual([
    ['v1', 'Secret', 'a'],
    ['v1', 'Secret', 'b'],
  ]);
});
