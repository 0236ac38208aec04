/** Where a real scheduler puts members: one zone a node, more members than zones, what is required and cannot be had, and a zone that is away for a while. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { drilledCluster, ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { podsOf, readCluster } from '../../stack/e2e.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { poll } from '../../stack/poll.ts';

const ZONE = 'topology.kubernetes.io/zone';
const POOL = 'pool.example.com/name';
const cluster = drilledCluster('drill-zones');
const { at, drill, world } = cluster;
const kubectl = (...args: string[]) => world().stack.kubectl(...args);
const nodes = () => world().stack.nodes;

const spread = (topologyKey: string): NonNullable<EtcdClusterSpec['pod']> => ({
  ...ASKING_FOR_CPU,
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { etcd_cluster: at.name } },
    },
  ],
});

/** How many members are on each node, in order. */
async function spreadOver(): Promise<number[]> {
  const pods = await podsOf(world(), at.namespace, at.name);
  const on = pods.map(pod => (pod['spec'] as { nodeName?: string }).nodeName);
  return nodes()
    .map(node => on.filter(each => each === node).length)
    .toSorted();
}

async function onNode(node: string): Promise<number> {
  const pods = await podsOf(world(), at.namespace, at.name);
  return pods.filter(pod => (pod['spec'] as { nodeName?: string }).nodeName === node).length;
}

/** What the conditions say; for `expect`. */
async function said(): Promise<string> {
  const { conditions = [] } = (await readCluster(world(), at.namespace, at.name))?.status ?? {};
  return conditions.map(({ type, status, message }) => `${type}=${status} ${message}`).join('\n');
}

const voters = async () =>
  (await readCluster(world(), at.namespace, at.name))?.status?.members?.ready?.length ?? 0;

beforeAll(async () => {
  for (const [index, node] of nodes().entries())
    await kubectl('label', 'node', node, `${ZONE}=z${index + 1}`, '--overwrite');
});
afterAll(async () => {
  for (const [index, node] of nodes().entries()) {
    await world().stack.node.start(index + 1);
    await kubectl('label', 'node', node, `${ZONE}-`, `${POOL}-`);
    await kubectl('taint', 'node', node, `${POOL}-`).catch(() => {});
  }
});

test('members prefer nodes and zones of their own', async () => {
  expect(await spreadOver()).toEqual([1, 1, 1]);
});

test('five members are spread over three zones when the constraint must hold', async () => {
  await drill(
    'zones: 3 → 5 over three zones',
    async () => {
      await cluster.apply({ size: 5, pod: spread(ZONE) });
      await poll(async () => (await voters()) === 5, { timeoutMs: 240_000, otherwise: said });
    },
    { size: 5 },
  );
  expect(await spreadOver()).toEqual([1, 2, 2]);
});

test('a zone that is away for a while takes no member with it', async () => {
  const before = await cluster.pods();
  await drill(
    'zones: one away',
    async () => {
      await world().stack.node.stop(3);
      await poll(async () => (await readyEndpoints(world(), at.namespace, at.name)).length < 5, {
        timeoutMs: 120_000,
      });
      await world().stack.node.start(3);
      await poll(async () => (await readyEndpoints(world(), at.namespace, at.name)).length === 5, {
        timeoutMs: 240_000,
      });
    },
    { size: 5 },
  );
  expect(await cluster.gone(before)).toBe(0);
  expect(await spreadOver()).toEqual([1, 2, 2]);
});

test('no member is put on a node whose taint it does not tolerate, until it does', async () => {
  await drill('zones: 5 → 3', () => cluster.apply({ size: 3, pod: spread(ZONE) }), { size: 3, lost: 2 });
  const [, , third = ''] = nodes();
  await kubectl('taint', 'node', third, `${POOL}=other:NoSchedule`);
  const had = await onNode(third);
  await drill('zones: 3 → 5 beside a taint', () => cluster.apply({ size: 5, pod: { ...ASKING_FOR_CPU } }), {
    size: 5,
  });
  expect(await onNode(third)).toBe(had);
  await drill('zones: 5 → 3', () => cluster.apply({ size: 3, pod: { ...ASKING_FOR_CPU } }), {
    size: 3,
    lost: 2,
  });
  await kubectl('taint', 'node', third, `${POOL}-`);
});

test('a member for which there is no node says so, and the others stay', async () => {
  await cluster.apply({ size: 4, pod: { ...ASKING_FOR_CPU, antiAffinity: true } });
  await poll(async () => /Unschedulable/.test(await said()), { timeoutMs: 120_000, otherwise: said });
  console.log(`zones: ${(await said()).split('\n').find(line => line.includes('Unschedulable'))}`);
  expect(await voters()).toBe(3);
  await cluster.apply({ size: 3, pod: { ...ASKING_FOR_CPU, antiAffinity: true } });
  await drill('zones: at rest again', async () => {});
  expect(await spreadOver()).toEqual([1, 1, 1]);
});
