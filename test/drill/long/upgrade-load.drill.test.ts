/**
 * Upgrades of three and of five members while five hundred writes a second run: no write
 * fails, the longest stall is short, and what it costs beside a restart of the same pods by hand is printed.
 */
import { describe, expect, test } from 'vitest';
import { rollByHand } from '../../stack/drill/by-hand.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { openOperations } from '../../stack/drill/operations.ts';
import { stallsAmong } from '../../stack/drill/stalls.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';

const LOAD = { writesPerSecond: 500 };
const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

describe.each([3, 5])('%i members', size => {
  const cluster = drilledCluster(`drill-upgrade-load-${size}`, size, { version: '3.6.5' });
  const upgrades = upgradesOf(cluster);
  let byHandMs = 0;

  test('by hand, there and back, while the operator is paused', async () => {
    const { history } = await cluster.drill(
      `${size} members, 3.6.5 → 3.6.16 → 3.6.5 by hand`,
      async () => {
        await upgrades.edit({ paused: true });
        const took = [await rollByHand(cluster, '3.6.16'), await rollByHand(cluster, '3.6.5')];
        byHandMs = Math.min(...took);
        console.log(`${size} members by hand: ${took.map(seconds).join(' and ')}`);
        await upgrades.edit({ paused: false });
      },
      LOAD,
    );
    console.log(`longest stalls by hand: ${stallsAmong(history, [])}`);
  });

  test.each([
    { from: '3.6.5', to: '3.6.16', how: 'in place' },
    { from: '3.6.16', to: '3.7.3', how: 'across a minor' },
  ])('$from → $to, $how', async ({ from, to, how }) => {
    let tookMs = 0;
    const { verdict, history } = await cluster.drill(
      `${size} members, ${from} → ${to}`,
      async () => {
        const begun = performance.now();
        await upgrades.edit({ version: to });
        await upgrades.arrive(to);
        tookMs = performance.now() - begun;
      },
      LOAD,
    );
    const operations = await openOperations(cluster.world(), cluster.at);
    const { timed = [] } = (await operations.newest()) ?? {};
    await operations.close();
    for (const { name, about, begun, ended } of timed) {
      if (name !== 'assess') console.log(`  ${seconds(ended - begun)} ${name}: ${about}`);
    }
    console.log(
      `${size} members, ${how}: ${seconds(tookMs)}, ${seconds(tookMs / size)} a member, ${(tookMs / byHandMs).toFixed(1)} times by hand`,
    );
    console.log(`longest stalls: ${stallsAmong(history, timed)}`);
    expect(verdict.failedForGood).toBe(0);
    expect(verdict.longestStallMs).toBeLessThanOrEqual(300);
  });
});
