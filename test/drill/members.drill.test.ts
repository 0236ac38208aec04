/** Members that go and come back, or go for good, in a cluster that is written to two hundred times a second. */
import { expect, test } from 'vitest';
import { leaderOf } from '../stack/drill/drill.ts';
import { awaitNoticed, drilledCluster } from '../stack/drill/drilled.ts';
import { readCluster } from '../stack/e2e.ts';
import { poll } from '../stack/poll.ts';

const cluster = drilledCluster('drill-members');
const { at, drill, world } = cluster;

test('a kubelet starts a container again whose etcd was killed', async () => {
  const pods = await cluster.pods();
  const { member } = await leaderOf(world(), at);
  const { verdict } = await drill('leader killed', async () => cluster.killMember(member));
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await cluster.pods()).toEqual(pods);
});

test('a pod and its claim are deleted', async () => {
  const pods = await cluster.pods();
  const { member } = await leaderOf(world(), at);
  const { verdict } = await drill(
    'pod and claim of the leader deleted',
    async () => {
      await cluster.deletePodAndClaim(member);
      await poll(async () => (await cluster.gone(pods)) > 0);
    },
    { lost: 1 },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await cluster.gone(pods)).toBe(1);
  const { status } = (await readCluster(world(), at.namespace, at.name)) ?? {};
  // A claim that is being deleted is proof before it is gone, once its pod has ended.
  const reason = expect.stringMatching(/^its claim is (gone$|being deleted)/);
  expect(status?.replacements).toMatchObject([{ member, reason }]);
});

test('all pods are deleted at once', async () => {
  const pods = await cluster.pods();
  const { status } = await drill('all pods deleted', async () => {
    await cluster.kubectl('delete', 'pod', '-l', `etcd_cluster=${at.name}`, '--wait=false');
    await poll(async () => (await cluster.gone(pods)) === pods.length, { timeoutMs: 120_000 });
  });
  expect(status.seen.some(({ available }) => available !== 'True')).toBe(true);
  expect(await cluster.gone(pods)).toBe(pods.length);
});

test('a node is cut off and connected again', async () => {
  const pods = await cluster.pods();
  const { node } = await leaderOf(world(), at);
  await drill('node of the leader partitioned', async ({ status }) => {
    await world().stack.node.disconnect(node);
    try {
      await awaitNoticed(status);
    } finally {
      await world().stack.node.connect(node);
    }
  });
  expect(await cluster.pods()).toEqual(pods);
});
