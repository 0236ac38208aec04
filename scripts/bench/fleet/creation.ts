/** Clusters of three members are asked for at a steady rate. */
import { setTimeout as delay } from 'node:timers/promises';
import { manifest } from '../../../test/stack/e2e.ts';
import { atRest, cost, parts } from './cost.ts';
import { type Section, spread } from './figure.ts';
import { type Fleet, untilQuiet } from './fleet.ts';
import { recorded } from './history.ts';
import { ETCD_IO, targetsOf } from './targets.ts';
import { reading, untilWatched } from './usage.ts';

const REST_MS = 30_000;

export async function creation(fleet: Fleet): Promise<Section> {
  const { world, rate, clusters, progress, spec } = fleet;
  const targets = targetsOf(fleet.names.length);
  const names = fleet.names.slice(0, fleet.created);
  await untilWatched(world);
  const recordedBefore = await recorded(world);
  const resting = fleet.created < fleet.names.length ? await restOf(fleet) : undefined;
  const before = await reading(world);
  const asked = new Map<string, number>();
  const begun = performance.now();
  const asking = (async () => {
    for (const [number, name] of names.entries()) {
      await delay(Math.max(0, begun + (number * 1_000) / rate - performance.now()));
      asked.set(name, performance.now());
      await world.kube.apply(manifest(fleet.namespace, name, spec));
    }
  })();
  await Promise.all([asking, clusters.untilHealthy(names, progress)]);
  const healthy = [...clusters.healthySince()].filter(([name]) => asked.has(name));
  await untilQuiet(fleet);
  const after = await reading(world);
  const recordedAfter = await recorded(world);
  const each = (what: keyof typeof recordedAfter): number =>
    (recordedAfter[what] - recordedBefore[what]) / names.length;
  const took = healthy.map(([name, at]) => at - (asked.get(name) ?? Number.NaN));
  return {
    figures: [
      { what: 'asked for', unit: 'clusters/s', value: rate },
      {
        what: 'created, from the first tenth to the last',
        unit: 'clusters/s',
        value: sustained(healthy.map(([, at]) => at)),
        target: targets.created,
        peer: ETCD_IO.created,
      },
      ...spread('from apply to healthy', took),
      ...cost(before, after, {
        clusters: names.length,
        atRest: resting,
        targets: {
          callsEach: targets.callsOfCreation,
          requestsEach: targets.requestsOfCreation,
          memory: targets.memory,
        },
      }),
      { what: 'events of histories for each cluster', unit: '', value: each('events') },
      { what: 'history for each cluster', unit: 'KiB', value: each('bytes') / 1024 },
      { what: 'runs of workflows for each cluster', unit: '', value: each('runs') },
    ],
    notes: [
      ...parts(before, after, names.length),
      ...(resting
        ? [
            `fleet at rest: ${perSecond(resting.calls)} API calls/s, ${perSecond(resting.requests)} Temporal requests/s`,
          ]
        : []),
    ],
  };
}

const perSecond = (value: number): string => value.toFixed(2);

/** Of the clusters that are there already. */
async function restOf({ world, progress }: Fleet) {
  progress(`the fleet is at rest for ${REST_MS / 1_000} s`);
  const before = await reading(world);
  await delay(REST_MS);
  return atRest(before, await reading(world));
}

/** How many a second became healthy, without the first and the last tenth of them. */
function sustained(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const [from, to] = [Math.floor(sorted.length * 0.1), Math.ceil(sorted.length * 0.9) - 1];
  return ((to - from) * 1_000) / ((sorted[to] ?? Number.NaN) - (sorted[from] ?? Number.NaN));
}
