/**
 * The operators killed with -9 after each activity of an upgrade. What the activities are is learned from a run without a kill:
 * in new pods (3.5.3 ↔ 3.5.35, whose probes differ), in place (3.6.5 ↔ 3.6.16), and across minors.
 */
import { describe, expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { openOperations, type Operations } from '../../stack/drill/operations.ts';
import type { ActivityName } from '../../stack/drill/timeline.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';

const REPLICAS = 2;

/** Upgrades, and kills every operator as soon as `after` was completed; gives what was completed. */
type Run = (
  version: string,
  after: ActivityName | undefined,
  operations: Operations,
) => Promise<readonly ActivityName[]>;

function sweepOf(cluster: ReturnType<typeof drilledCluster>): Run {
  const { world } = cluster;
  const { arrive, edit } = upgradesOf(cluster);
  return async (version, after, operations) => {
    await freshOperators(world(), REPLICAS);
    const before = await operations.newest();
    const title = after === undefined ? 'nobody killed' : `operators killed after ${after}`;
    await cluster.drill(
      `to ${version}, ${title}`,
      async () => {
        await edit({ version });
        if (after !== undefined) {
          await operations.await('upgradeCluster', before, ({ completed }) => completed.includes(after));
          if (killOperators(world()) === 0) throw new Error('there was no operator to kill');
        }
        await arrive(version);
      },
      { silent: after !== undefined },
    );
    const runs = await operations.since(before);
    return runs
      .filter(({ operation }) => operation === 'upgradeCluster')
      .flatMap(({ completed }) => completed);
  };
}

describe.each([
  { name: 'pods', older: '3.5.3', newer: '3.5.35', met: ['stopMember', 'restartMember'] },
  { name: 'place', older: '3.6.5', newer: '3.6.16', met: ['replaceImage'] },
] as const)('$older ↔ $newer', ({ name, older, newer, met }) => {
  const cluster = drilledCluster(`drill-upgrade-sweep-${name}`, 3, { version: older });
  test('the upgrade survives the death of the operator after every activity', async () => {
    const run = sweepOf(cluster);
    const operations = await openOperations(cluster.world(), cluster.at);
    const activities = [...new Set(await run(newer, undefined, operations))];
    expect(activities).toEqual(expect.arrayContaining([...met, 'awaitVersion', 'awaitQuiet', 'moveLeader']));
    for (const [turn, after] of activities.entries()) {
      await run(turn % 2 === 0 ? older : newer, after, operations);
    }
    await operations.close();
  }, 1_800_000);
});

describe('3.5.35 → 3.6.16 → 3.7.3', () => {
  const cluster = drilledCluster('drill-upgrade-sweep-minors', 3, { version: '3.5.35' });
  test('the operator may die while cluster and data arrive, and before the next minor starts', async () => {
    const run = sweepOf(cluster);
    const operations = await openOperations(cluster.world(), cluster.at);
    await run('3.6.16', 'awaitAgreement', operations);
    await run('3.7.3', 'restartMember', operations);
    await operations.close();
  }, 900_000);
});
