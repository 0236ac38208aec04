/** The servers that the operator stands on gone for longer: the API server, and Temporal with all that it knew. */
import { expect, test } from 'vitest';
import { withoutApiserver } from '../../stack/drill/apiserver-away.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { openOperations } from '../../stack/drill/operations.ts';
import { holds, readCluster } from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-servers-long');
const { at, drill, world } = cluster;
const AWAY_MS = 120_000;

async function pass(milliseconds: number): Promise<void> {
  const begun = performance.now();
  await poll(async () => performance.now() - begun > milliseconds, { timeoutMs: 2 * milliseconds });
}

test('the API server is stopped for a minute, and a member is killed meanwhile', async () => {
  const pods = await cluster.pods();
  const { member } = await leaderOf(world(), at);
  const { verdict } = await drill('API server stopped for a minute', async () => {
    await withoutApiserver(world(), async () => {
      cluster.killMember(member);
      await pass(60_000);
    });
  });
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await cluster.pods()).toEqual(pods);
});

test('Temporal is stopped for two minutes and wiped in the middle of a replacement', async () => {
  const { member } = await leaderOf(world(), at);
  const operations = await openOperations(world(), at);
  const before = await operations.newest();
  const { verdict } = await drill(
    'Temporal stopped for two minutes and wiped',
    async () => {
      await cluster.deletePodAndClaim(member);
      await operations.await('replaceMember', before, ({ completed }) => completed.includes('removeMember'));
      await operations.close();
      await world().stack.temporal.stop();
      try {
        await pass(AWAY_MS);
        expect(holds(await readCluster(world(), at.namespace, at.name), 'TemporalUnavailable')).toBe(true);
        await world().stack.temporal.wipe();
      } finally {
        await world().stack.temporal.start();
      }
    },
    // Of what happens in the cluster nobody writes a status while there is no Temporal.
    { lost: 1, silent: true },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  const status = (await readCluster(world(), at.namespace, at.name))?.status;
  expect(status?.replacements).toMatchObject([
    // Whichever was seen first: both prove that the volume is lost.
    { member, reason: expect.stringMatching(/^its claim is (gone|being deleted)/) as string },
  ]);
  await poll(async () => !holds(await readCluster(world(), at.namespace, at.name), 'TemporalUnavailable'), {
    timeoutMs: 60_000,
  });
});
