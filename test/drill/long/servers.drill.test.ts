/** Temporal gone for longer, and with all that it knew, in the middle of a replacement. */
import { expect, test } from 'vitest';
import { leaderOf } from '../../support/drill/drill.ts';
import { drilledCluster } from '../../support/drill/drilled.ts';
import { openOperations } from '../../support/drill/operations.ts';
import { holds, readCluster } from '../../support/e2e.ts';
import { poll } from '../../support/poll.ts';

const cluster = drilledCluster('drill-servers-long');
const { at, drill, world } = cluster;
const AWAY_MS = 120_000;

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
        const begun = performance.now();
        await poll(async () => performance.now() - begun > AWAY_MS, { timeoutMs: 2 * AWAY_MS });
        expect(holds(await readCluster(world(), at.namespace, at.name), 'TemporalUnavailable')).toBe(true);
        await world().stack.temporal.wipe();
      } finally {
        await world().stack.temporal.start();
      }
    },
    // Of what is going on in the cluster nobody writes a status while there is no Temporal.
    { lost: 1, silent: true },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  const status = (await readCluster(world(), at.namespace, at.name))?.status;
  expect(status?.replacements).toMatchObject([{ member, reason: 'its claim is gone' }]);
  await poll(async () => !holds(await readCluster(world(), at.namespace, at.name), 'TemporalUnavailable'), {
    timeoutMs: 60_000,
  });
});
