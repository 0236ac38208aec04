/** What the operator stands on goes away, and it itself, while something happens to a cluster that is written to. */
import { expect, test } from 'vitest';
import { withoutApiserver } from '../../stack/drill/apiserver-away.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { awaitCondition, holds, readCluster } from '../../stack/e2e.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-servers');
const { at, drill, world } = cluster;

test('the API server is away, and a member is killed meanwhile', async () => {
  const pods = await cluster.pods();
  const { member } = await leaderOf(world(), at);
  const { verdict } = await drill('API server away', async ({ acknowledged }) => {
    await withoutApiserver(world(), async () => {
      cluster.killMember(member);
      const before = acknowledged();
      await poll(async () => acknowledged() > before + 2_000, { timeoutMs: 60_000 });
    });
  });
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await cluster.pods()).toEqual(pods);
});

test('Temporal is away, and a pod is deleted meanwhile', async () => {
  const pods = await cluster.pods();
  const { member } = await leaderOf(world(), at);
  await drill('Temporal away', async () => {
    await world().stack.temporal.stop();
    try {
      await cluster.deletePod(member);
      await awaitCondition(world(), at, { type: 'TemporalUnavailable', timeoutMs: 60_000 });
    } finally {
      await world().stack.temporal.start();
    }
  });
  expect(await cluster.gone(pods)).toBe(1);
  await poll(async () => !holds(await readCluster(world(), at.namespace, at.name), 'TemporalUnavailable'), {
    timeoutMs: 60_000,
  });
});

test('both operators are killed, and a pod is deleted before they are back', async () => {
  const pods = await cluster.pods();
  const { member } = await leaderOf(world(), at);
  await drill(
    'operators killed',
    async () => {
      expect(killOperators(world())).toBeGreaterThan(0);
      await cluster.deletePod(member);
      await poll(async () => (await cluster.gone(pods)) > 0, { timeoutMs: 60_000 });
    },
    { silent: true },
  );
  expect(await cluster.gone(pods)).toBe(1);
});
