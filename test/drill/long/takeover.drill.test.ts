/** The operator, its namespace or Temporal's database goes, and what it looked after is as it was. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  holds,
  manifest,
  podsOf,
  readCluster,
  removeNamespace,
  startWorld,
  type World,
} from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'takeover';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const at = (name: string) => ({ namespace: NAMESPACE, name });
const uidsOf = async (name: string) =>
  (await podsOf(world, NAMESPACE, name)).map(pod => pod.metadata.uid).sort();

describe('a living cluster', () => {
  const name = 'lasting';
  beforeAll(async () => {
    await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: '3.6.16' }));
    await awaitRunning(world, at(name));
  });

  test('is taken over with no change to its pods after Temporal lost its database', async () => {
    const before = await uidsOf(name);
    await world.stack.temporal.wipe();
    const workflow = (await readCluster(world, NAMESPACE, name))?.status?.workflowID ?? '';
    // A new server knows no namespace, no search attribute and no workflow until the operator made them again.
    await poll(
      async () =>
        (await world.temporal('workflow', 'describe', '-w', workflow, '-o', 'json')).includes('RUNNING'),
      { timeoutMs: 120_000 },
    );
    await poll(
      async () =>
        (
          await world.temporal('workflow', 'query', '-w', workflow, '--name', 'status', '-o', 'json')
        ).includes('"membersReady": 3'),
      { timeoutMs: 60_000 },
    );
    expect(await uidsOf(name)).toEqual(before);
    expect(holds(await readCluster(world, NAMESPACE, name), 'Healthy')).toBe(true);
  });

  test('gets a deleted pod back on its own volume, and a deleted Service', async () => {
    const claims = (await claimsOf(world, NAMESPACE, name)).map(claim => claim.metadata.uid).sort();
    const before = await uidsOf(name);
    await world.stack.kubectl(
      '-n',
      NAMESPACE,
      'exec',
      `${name}-1`,
      '--',
      'etcdctl',
      'put',
      'kept',
      'on the volume',
    );
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', `${name}-1`, '--wait=false');
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'service', `${name}-client`);
    await poll(async () => {
      const uids = await uidsOf(name);
      return uids.length === 3 && uids.filter(uid => before.includes(uid)).length === 2;
    });
    await awaitRunning(world, at(name));
    expect((await claimsOf(world, NAMESPACE, name)).map(claim => claim.metadata.uid).sort()).toEqual(claims);
    const value = await world.stack.kubectl(
      '-n',
      NAMESPACE,
      'exec',
      `${name}-1`,
      '--',
      'etcdctl',
      '--endpoints',
      `http://${name}-client:2379`,
      'get',
      'kept',
      '--print-value-only',
    );
    expect(value.trim()).toBe('on the volume');
  });

  test('is not touched when the operator and its namespace go', async () => {
    const before = await uidsOf(name);
    await removeNamespace(world, 'etcd-operator');
    expect(await uidsOf(name)).toEqual(before);
    const value = await world.stack.kubectl(
      '-n',
      NAMESPACE,
      'exec',
      `${name}-0`,
      '--',
      'etcdctl',
      'get',
      'kept',
      '--print-value-only',
    );
    expect(value.trim()).toBe('on the volume');
    world = await startWorld();
    await awaitRunning(world, at(name));
    expect(await uidsOf(name)).toEqual(before);
  });

  test('says that Temporal is unavailable on the resource itself, and takes it back', async () => {
    await world.stack.temporal.stop();
    try {
      await world.stack.kubectl('-n', NAMESPACE, 'label', 'etcd', name, 'look=again', '--overwrite');
      await awaitCondition(world, at(name), { type: 'TemporalUnavailable', timeoutMs: 60_000 });
    } finally {
      await world.stack.temporal.start();
    }
    await poll(async () => !holds(await readCluster(world, NAMESPACE, name), 'TemporalUnavailable'), {
      timeoutMs: 60_000,
    });
  });
});
