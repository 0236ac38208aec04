/** Members that find their volumes empty: each etcd says so in words of its own, and none starts on one. */
import { expect, test } from 'vitest';
import { ANNOTATION_INITIAL_CLUSTER_STATE } from '../../../src/api/names.ts';
import { emptyVolume } from '../../stack/drill/empty-volume.ts';
import { awaitCondition, awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'wiped';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const at = (name: string) => ({ namespace: NAMESPACE, name });
const kubectl = (...args: string[]) => world.stack.kubectl('-n', NAMESPACE, ...args);

/** By pod, the state that it passes to etcd. */
async function statesOf(name: string): Promise<Record<string, string | undefined>> {
  const pods = await podsOf(world, NAMESPACE, name);
  return Object.fromEntries(
    pods.map(({ metadata }) => [metadata.name, metadata.annotations?.[ANNOTATION_INITIAL_CLUSTER_STATE]]),
  );
}

/** Waits until one member was replaced and all is well again; `by` is the newest member. */
async function awaitReplaced(name: string, member: string, by: string): Promise<void> {
  const replacement = { member, reason: 'etcd found the volume empty', replacedBy: by };
  await poll(
    async () => {
      const { status } = (await readCluster(world, NAMESPACE, name)) ?? {};
      return status?.replacements?.[0]?.replacedBy === by && status.ready === '3/3';
    },
    {
      timeoutMs: 180_000,
      otherwise: async () => JSON.stringify((await readCluster(world, NAMESPACE, name))?.status, null, 1),
    },
  );
  const { status } = await awaitCondition(world, at(name), { type: 'Healthy' });
  expect(status?.replacements).toMatchObject([replacement]);
}

test.each(['3.5.21', '3.7.3'])(
  '%s: a member whose volume was emptied under its running pod is replaced',
  async version => {
    const name = `emptied-${version.replaceAll('.', '')}`;
    await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version }));
    await awaitRunning(world, at(name));
    await poll(async () => Object.values(await statesOf(name)).every(state => state === 'existing'));
    emptyVolume(world, at(name), `${name}-1`);
    const begun = performance.now();
    await awaitReplaced(name, `${name}-1`, `${name}-3`);
    console.log(`${version}: replaced in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    await kubectl('delete', 'etcd', name, '--wait=false');
  },
);

test('a pod deleted after the cluster has formed and before its first start ever', async () => {
  const name = 'unborn';
  const label = `${NAMESPACE}-${name}`;
  const [first = '', second = '', third = ''] = world.stack.nodes;
  await world.stack.kubectl('label', 'node', first, second, `${label}=yes`, '--overwrite');
  try {
    const pod = { antiAffinity: true, nodeSelector: { [label]: 'yes' } };
    await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: '3.6.16', pod }));
    await awaitCondition(world, at(name), { type: 'Available' });
    const waiting = await poll(async () => {
      const pods = await podsOf(world, NAMESPACE, name);
      const pending = pods.filter(({ spec }) => (spec as { nodeName?: string }).nodeName === undefined);
      return pods.length === 3 && pending.length === 1 ? pending[0]?.metadata : undefined;
    });
    expect(await statesOf(name)).toMatchObject({ [waiting.name]: 'new' });
    await kubectl('delete', 'pod', waiting.name);
    await poll(async () => (await statesOf(name))[waiting.name] === 'existing', { timeoutMs: 60_000 });
    await world.stack.kubectl('label', 'node', third, `${label}=yes`, '--overwrite');
    await awaitReplaced(name, waiting.name, `${name}-3`);
  } finally {
    await world.stack.kubectl('label', 'node', first, second, third, `${label}-`);
  }
});

test('the flags of a pod are restored when a user edits it', async () => {
  const name = 'edited';
  await world.kube.apply(manifest(NAMESPACE, name, { size: 1, version: '3.6.16' }));
  await awaitRunning(world, at(name));
  const [before] = await podsOf(world, NAMESPACE, name);
  await kubectl('annotate', 'pod', `${name}-0`, `${ANNOTATION_INITIAL_CLUSTER_STATE}=new`, '--overwrite');
  await poll(async () => (await statesOf(name))[`${name}-0`] === 'existing', { timeoutMs: 30_000 });
  const [after] = await podsOf(world, NAMESPACE, name);
  expect(after?.metadata.uid).toBe(before?.metadata.uid);
});
