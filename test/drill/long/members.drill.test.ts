/** Members and nodes that go, one or all of them, in a cluster that is written to two hundred times a second. */
import { expect, test } from 'vitest';
import { leaderOf } from '../../stack/drill/drill.ts';
import { awaitNoticed, drilledCluster } from '../../stack/drill/drilled.ts';
import { readCluster } from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-members-long');
const { at, drill, world } = cluster;

async function replacements(): Promise<readonly { member: string; reason?: string }[]> {
  return (await readCluster(world(), at.namespace, at.name))?.status?.replacements ?? [];
}

test('a pod is deleted', async () => {
  const pods = await cluster.pods();
  const { member } = await leaderOf(world(), at);
  const { verdict } = await drill('pod of the leader deleted', async () => {
    await cluster.deletePod(member);
    await poll(async () => (await cluster.gone(pods)) > 0);
  });
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await cluster.gone(pods)).toBe(1);
});

test('a node has no power for a while', async () => {
  const pods = await cluster.pods();
  const { node } = await leaderOf(world(), at);
  await drill('node of the leader off and on', async ({ status }) => {
    await world().stack.node.stop(node);
    try {
      await awaitNoticed(status);
    } finally {
      await world().stack.node.start(node);
    }
  });
  expect(await cluster.pods()).toEqual(pods);
});

test('all nodes lose power at once', async () => {
  const pods = await cluster.pods();
  const { stack } = world();
  const all = stack.nodes.map((_, index) => index + 1);
  const { status } = await drill(
    'all nodes off and on',
    async () => {
      await Promise.all(all.map(node => stack.node.stop(node)));
      await Promise.all(all.map(node => stack.node.start(node)));
    },
    { silent: true },
  );
  expect(await cluster.pods()).toEqual(pods);
  expect(status.last()?.available).toBe('True');
  expect(await replacements()).toEqual([]);
});

test('a node is gone for good, and another one comes in its place', async () => {
  const { member, node } = await leaderOf(world(), at);
  // Two voters of three on what is left; the new member needs a node to be on, as its anti-affinity is preferred only.
  await drill(
    'node of the leader removed',
    async () => {
      await world().stack.node.remove(node);
      await poll(async () => (await replacements()).some(one => one.member === member), {
        timeoutMs: 300_000,
        otherwise: async () =>
          JSON.stringify((await readCluster(world(), at.namespace, at.name))?.status, null, 1),
      });
    },
    { lost: 1 },
  );
  const [replaced] = await replacements();
  expect(replaced?.reason).toMatch(/its volume is on node \S+, which is gone/);
  await world().stack.node.start(node);
});

test('two of five are lost one after the other', async () => {
  await drill('size changed to 5', async () => cluster.apply({ size: 5 }), { size: 5 });
  const { member: first } = await leaderOf(world(), at);
  await drill(
    'two of five lost',
    async () => {
      await cluster.deletePodAndClaim(first);
      await poll(async () => (await replacements()).some(one => one.member === first));
      const members = (await readCluster(world(), at.namespace, at.name))?.status?.members?.ready ?? [];
      await cluster.deletePodAndClaim(members.find(name => name !== first) ?? '');
    },
    { size: 5, lost: 2 },
  );
  await drill('size changed to 3', async () => cluster.apply({ size: 3 }), { size: 3, lost: 2 });
});
