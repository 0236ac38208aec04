/** What happens to clusters in their lives, done to one that is written to two hundred times a second. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Drill, leaderOf, runDrill } from '../support/drill/drill.ts';
import {
  awaitCondition,
  createNamespace,
  holds,
  manifest,
  podsOf,
  readCluster,
  removeNamespace,
  startWorld,
  type World,
} from '../support/e2e.ts';
import { killOperators, processesWith } from '../support/operator-processes.ts';
import { poll } from '../support/poll.ts';

const NAMESPACE = 'drills';
const SIZE = 3;
const at = { namespace: NAMESPACE, name: 'drilled' };
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await removeNamespace(world, NAMESPACE);
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, at.name, { size: SIZE, version: '3.6.16' }));
  await awaitCondition(world, at, { type: 'Healthy' });
});
afterAll(async () => {
  if (world !== undefined) await removeNamespace(world, NAMESPACE);
});

const drill = (
  title: string,
  disturb: (drill: Drill) => Promise<void>,
  { size = SIZE, silent = false } = {},
) => runDrill({ world, at, size, title, silent }, disturb);

const uidsOf = async (): Promise<string[]> =>
  (await podsOf(world, NAMESPACE, at.name)).map(pod => pod.metadata.uid ?? '').sort();

/** kill -9 of a member's etcd, from outside of its container. */
function killMember(member: string): void {
  const pids = processesWith(world, `--name=${member}`);
  expect(pids).toHaveLength(1);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
}

/** Waits until the status no longer claims that all is well. */
const awaitNoticed = (status: Drill['status']): Promise<boolean> =>
  poll(async () => status.last()?.healthy !== 'True', { timeoutMs: 60_000 });

test('a kubelet starts a container again whose etcd was killed', async () => {
  const pods = await uidsOf();
  const { member } = await leaderOf(world, at);
  const { verdict } = await drill('leader killed', async () => killMember(member));
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await uidsOf()).toEqual(pods);
});

test('a pod is deleted', async () => {
  const pods = await uidsOf();
  const { member } = await leaderOf(world, at);
  const { verdict } = await drill('pod of the leader deleted', async () => {
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', member, '--wait=false');
    await poll(async () => (await uidsOf()).join() !== pods.join());
  });
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect((await uidsOf()).filter(uid => pods.includes(uid))).toHaveLength(SIZE - 1);
});

test('all pods are deleted at once', async () => {
  const pods = await uidsOf();
  const { status } = await drill('all pods deleted', async () => {
    const selector = `etcd_cluster=${at.name}`;
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', '-l', selector, '--wait=false');
    await poll(async () => (await uidsOf()).every(uid => !pods.includes(uid)), { timeoutMs: 120_000 });
  });
  expect(status.seen.some(({ available }) => available === 'False')).toBe(true);
  expect((await uidsOf()).filter(uid => pods.includes(uid))).toEqual([]);
});

test('a node has no power for a while', async () => {
  const pods = await uidsOf();
  const { node } = await leaderOf(world, at);
  await drill('node of the leader off and on', async ({ status }) => {
    await world.stack.node.stop(node);
    try {
      await awaitNoticed(status);
    } finally {
      await world.stack.node.start(node);
    }
  });
  expect(await uidsOf()).toEqual(pods);
});

test('a node is cut off and connected again', async () => {
  const pods = await uidsOf();
  const { node } = await leaderOf(world, at);
  await drill('node of the leader partitioned', async ({ status }) => {
    await world.stack.node.disconnect(node);
    try {
      await awaitNoticed(status);
    } finally {
      await world.stack.node.connect(node);
    }
  });
  expect(await uidsOf()).toEqual(pods);
});

test('the API server is away, and a member is killed meanwhile', async () => {
  const pods = await uidsOf();
  const { member } = await leaderOf(world, at);
  const { verdict } = await drill('API server away', async ({ acknowledged }) => {
    await world.stack.apiserver.stop();
    try {
      killMember(member);
      const before = acknowledged();
      await poll(async () => acknowledged() > before + 2_000, { timeoutMs: 60_000 });
    } finally {
      await world.stack.apiserver.start();
    }
  });
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await uidsOf()).toEqual(pods);
});

test('Temporal is away, and a pod is deleted meanwhile', async () => {
  const pods = await uidsOf();
  const { member } = await leaderOf(world, at);
  await drill('Temporal away', async () => {
    await world.stack.temporal.stop();
    try {
      await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', member, '--wait=false');
      await awaitCondition(world, at, { type: 'TemporalUnavailable', timeoutMs: 60_000 });
    } finally {
      await world.stack.temporal.start();
    }
  });
  expect((await uidsOf()).filter(uid => pods.includes(uid))).toHaveLength(SIZE - 1);
  await poll(async () => !holds(await readCluster(world, NAMESPACE, at.name), 'TemporalUnavailable'), {
    timeoutMs: 60_000,
  });
});

test('both operators are killed, and a pod is deleted before they are back', async () => {
  const pods = await uidsOf();
  const { member } = await leaderOf(world, at);
  await drill(
    'operators killed',
    async () => {
      expect(killOperators(world)).toBeGreaterThan(0);
      await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', member, '--wait=false');
      await poll(async () => (await uidsOf()).join() !== pods.join(), { timeoutMs: 60_000 });
    },
    { silent: true },
  );
  expect((await uidsOf()).filter(uid => pods.includes(uid))).toHaveLength(SIZE - 1);
});

test.each([5, 3, 5, 3])('the size is changed to %i', async size => {
  const { verdict } = await drill(
    `size changed to ${size}`,
    async () => {
      await world.kube.apply(manifest(NAMESPACE, at.name, { size, version: '3.6.16' }));
    },
    { size },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
});
