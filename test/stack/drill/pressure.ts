/** The tests of a drill under pressure: the same whatever the pressure is. */
import { loadavg } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { electionTiming } from '../../../src/main/config/election-timing.ts';
import type { World } from '../e2e.ts';
import { useNamespace } from '../e2e-namespace.ts';
import { type ApiserverWatch, watchApiserver } from './apiserver-watch.ts';
import { limitOperators, unlimitOperators } from './operator-limits.ts';
import { OperatorLog } from './operator-log.ts';
import { BACKED_UP, type FleetOptions, PressedFleet } from './pressed-fleet.ts';
import { type Pressure, press } from './pressures.ts';
import { lookedAtAgain, type RecordedRun, runsOf, tasksTimedOutTwice } from './recorded-work.ts';

/** A fifth of a processor, of which a starting program alone needs several seconds. */
const MILLI_CPU = 200;
const { leaseDurationMs: LEASE_MS } = electionTiming;

/**
 * Both replicas are killed with -9 while clusters are created, and again while all but one are upgraded and that one is restored.
 * It asserts states of the world and counts that no busy machine may raise, and prints what was measured.
 */
export function pressureDrill(how: string, options: FleetOptions, pressure: Pressure = {}): void {
  describe(`operators ${how}`, () => {
    let world: World;
    let fleet: PressedFleet;
    let log: OperatorLog;
    let begun: Date;
    let apiserver: ApiserverWatch | undefined;
    let relieve: () => Promise<void> = async () => {};
    const kills: { readonly during: string; readonly at: number }[] = [];
    useNamespace(options.namespace, opened => void (world = opened));
    beforeAll(async () => {
      relieve = await press(world, pressure);
      await limitOperators(world, MILLI_CPU);
      fleet = new PressedFleet(world, options);
      begun = new Date();
      log = new OperatorLog(world, begun);
      apiserver = watchApiserver(world);
    });
    afterAll(async () => {
      await apiserver?.stop();
      await relieve();
      await unlimitOperators(world);
    });
    const killDuring = (during: string): void => void kills.push({ during, at: fleet.kill() });

    const clusters = `${options.ones} clusters of one member and ${options.threes} of three`;
    test(`${clusters} are created, the operators killed meanwhile`, async () => {
      await fleet.beginCreations();
      killDuring('creations');
      await fleet.created();
      await log.collect();
    });

    test('they are upgraded, and one is restored, the operators killed meanwhile', async () => {
      await fleet.beginUpgradesAndRestore();
      killDuring('upgrades and a restore');
      expect(await fleet.upgradedAndRestored()).toEqual({ phase: 'Succeeded', value: BACKED_UP });
      await log.collect();
    });

    test('no task timed out twice, no leadership was lost, and all were looked at again', async () => {
      const runs = await recorded(world, options.namespace, begun);
      const ofClusters = runs.filter(({ workflowId }) => workflowId.startsWith('etcdcluster/'));
      for (const { during, at } of kills) {
        const after = lookedAtAgain(ofClusters, at);
        console.log(
          `killed during ${during} at ${new Date(at).toISOString().slice(11, 23)}: looked at again after ${spread(after)}`,
        );
        expect(after).toHaveLength(fleet.clusters.length);
      }
      const late = log.lateAnswers();
      const lost = log.leadershipsLost();
      const lostAlthoughAnswered = lost.filter(at => apiserver?.answered(at - LEASE_MS, at));
      console.log(
        `answers that came too late: ${late.activities} of steps and passes, ${late.tasks} of workflow tasks; leaderships lost: ${lost.length}, of them ${lostAlthoughAnswered.length} while the apiserver answered; load ${loadavg()[0]?.toFixed(1)}`,
      );
      expect(tasksTimedOutTwice(runs)).toEqual([]);
      expect(lostAlthoughAnswered).toEqual([]);
    });
  });
}

async function recorded(world: World, namespace: string, since: Date): Promise<RecordedRun[]> {
  const connection = await Connection.connect({ address: world.stack.temporalAddress });
  try {
    return await runsOf(new Client({ connection, namespace: 'etcd-operator' }), namespace, since);
  } finally {
    await connection.close();
  }
}

function spread(milliseconds: readonly number[]): string {
  const at = (share: number) => milliseconds[Math.ceil(milliseconds.length * share) - 1] ?? Number.NaN;
  const shown = [at(0.5), at(0.99)].map(one => `${(one / 1_000).toFixed(1)} s`);
  return `${shown.join(' (p50), ')} (p99), ${milliseconds.length} clusters`;
}
