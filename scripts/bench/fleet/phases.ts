/** What happens to a fleet, in this order, and what each phase took and cost. */
import { setTimeout as delay } from 'node:timers/promises';
import { manifest } from '../../../test/stack/e2e.ts';
import { poll } from '../../../test/stack/poll.ts';
import { percentiles, type Row } from '../figures.ts';
import { ClusterWatch } from './cluster-watch.ts';
import {
  changeAndRepair,
  changeSpecification,
  CLUSTER,
  type Fleet,
  nameOf,
  sampleOf,
  SPEC,
  untilQuiet,
} from './fleet.ts';
import { recorded } from './history.ts';
import { costs, grown, passes, reading, total, untilWatched } from './usage.ts';

export const PHASES = {
  create,
  idle,
  change,
  storm,
  'operator-killed': operatorKilled,
} as const satisfies Readonly<Record<string, (fleet: Fleet) => Promise<Row[]>>>;

export type PhaseName = keyof typeof PHASES;

const IDLE_MS = 90_000;
const CHANGES = 30;
const CHANGED_AT_THE_KILL = 20;
const STORM_MS = 10_000;
const STORMY_CLUSTERS = 100;
const STORM_AT_ONCE = 32;
const CALM = 'fleet-calm';
const CALM_CLUSTERS = 10;
const ALL_RECONCILED_MS = 900_000;

/** Clusters of three members are asked for at a steady rate. */
async function create(fleet: Fleet): Promise<Row[]> {
  const { world, rate, clusters, progress, names, namespace } = fleet;
  await untilWatched(world);
  const [recordedBefore, before] = [await recorded(world), await reading(world)];
  const asked = new Map<string, number>();
  const begun = performance.now();
  const asking = (async () => {
    for (const [number, name] of names.entries()) {
      await delay(Math.max(0, begun + (number * 1_000) / rate - performance.now()));
      asked.set(name, performance.now());
      await world.kube.apply(manifest(namespace, name, SPEC));
    }
  })();
  await Promise.all([asking, clusters.untilHealthy(names, progress)]);
  const healthy = [...clusters.healthySince()];
  await untilQuiet(fleet);
  const [after, recordedAfter] = [await reading(world), await recorded(world)];
  const each = (what: keyof typeof recordedAfter): number =>
    (recordedAfter[what] - recordedBefore[what]) / names.length;
  return [
    {
      what: 'created, from the first tenth to the last',
      unit: '1/s',
      measured: [sustained(healthy.map(([, at]) => at))],
    },
    ...percentiles(
      'from apply to healthy',
      healthy.map(([name, at]) => at - (asked.get(name) ?? Number.NaN)),
    ),
    ...costs(before, after, names.length),
    { what: 'events of histories for each', unit: '', measured: [each('events')] },
    { what: 'history for each', unit: 'KiB', measured: [each('bytes') / 1_024] },
  ];
}

/** How many a second became healthy, without the first and the last tenth of them. */
function sustained(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const [from, to] = [Math.floor(sorted.length * 0.1), Math.ceil(sorted.length * 0.9) - 1];
  return ((to - from) * 1_000) / ((sorted[to] ?? Number.NaN) - (sorted[from] ?? Number.NaN));
}

/** Ninety seconds in which nothing happens, after all that a start and creations cause has come to its end. */
async function idle(fleet: Fleet): Promise<Row[]> {
  const { world, names } = fleet;
  await untilQuiet(fleet);
  const [recordedBefore, before] = [await recorded(world), await reading(world)];
  await delay(IDLE_MS);
  const [after, recordedAfter] = [await reading(world), await recorded(world)];
  const writes = [...grown(before.callsByKind, after.callsByKind)]
    .filter(([call]) => call.endsWith(' EtcdCluster') && !call.startsWith('GET '))
    .reduce((all, [, count]) => all + count, 0);
  const events = recordedAfter.events - recordedBefore.events;
  return [
    ...costs(before, after, names.length),
    { what: 'writes to EtcdClusters and their statuses', unit: '', measured: [writes] },
    { what: 'events of histories', unit: '', measured: [events] },
  ];
}

/** Changes of one cluster at a time, each awaited. */
async function change(fleet: Fleet): Promise<Row[]> {
  const { world, names } = fleet;
  const before = await reading(world);
  const took: number[] = [];
  for (const name of sampleOf(names, CHANGES)) {
    took.push(await changeAndRepair(fleet, name));
    await delay(200);
  }
  await untilQuiet(fleet);
  return [
    ...percentiles('from a change to the end of its first step', took),
    ...costs(before, await reading(world), took.length),
  ];
}

/** The specifications of up to a hundred clusters change as fast as the API server takes it, and clusters of another namespace now and then. */
async function storm(fleet: Fleet): Promise<Row[]> {
  const { world, names, namespace, clusters, progress } = fleet;
  const stormy = names.slice(0, STORMY_CLUSTERS);
  const calm = await calmClusters(fleet);
  const before = await reading(world);
  const end = performance.now() + STORM_MS;
  let changes = 0;
  const storming = Array.from({ length: STORM_AT_ONCE }, async () => {
    while (performance.now() < end) {
      changes += 1;
      const ref = { ...CLUSTER, namespace, name: stormy[changes % stormy.length] ?? '' };
      await world.kube.patch(
        ref,
        { spec: { service: { annotations: { storm: `${changes}` } } } },
        { type: 'merge' },
      );
    }
  });
  const took: number[] = [];
  for (let at = 0; performance.now() < end; at += 1)
    took.push(await changeAndRepair({ world, namespace: CALM }, calm[at % calm.length] ?? ''));
  await Promise.all(storming);
  await clusters.untilHealthy(stormy, progress);
  await untilQuiet(fleet);
  return [
    { what: `changes of ${stormy.length} clusters`, unit: '1/s', measured: [(changes * 1_000) / STORM_MS] },
    ...percentiles('meanwhile in another namespace, from a change to the end of its first step', took),
    ...costs(before, await reading(world), stormy.length),
  ];
}

/** The names of a few clusters in a namespace of their own, which are made. */
async function calmClusters({ world, progress }: Fleet): Promise<readonly string[]> {
  await world.kube.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CALM } });
  const names = Array.from({ length: CALM_CLUSTERS }, (_, number) => nameOf(number));
  const clusters = new ClusterWatch(world.kube, CALM);
  try {
    await Promise.all(names.map(name => world.kube.apply(manifest(CALM, name, SPEC))));
    await clusters.untilHealthy(names, progress);
  } finally {
    await clusters.stop();
  }
  return names;
}

/** kill -9 of the replica that watches, while clusters change; another one is started at once, as a kubelet does. */
async function operatorKilled(fleet: Fleet): Promise<Row[]> {
  const { world, names } = fleet;
  const watching = await untilWatched(world);
  await world.killOperator(watching);
  const [before, begun] = [await reading(world), performance.now()];
  const allReconciled = async (): Promise<number> => {
    const first = await passes(world);
    await poll(async () => (await passes(world)) - first >= names.length, {
      intervalMs: 1_000,
      timeoutMs: ALL_RECONCILED_MS,
    });
    return performance.now() - begun;
  };
  const changeSome = () =>
    Promise.all(sampleOf(names, CHANGED_AT_THE_KILL).map(name => changeSpecification(fleet, name, 250)));
  const [, took, all] = await Promise.all([world.startOperator(), changeSome(), allReconciled()]);
  await untilQuiet(fleet);
  const after = await reading(world);
  return [
    ...percentiles('specifications changed at the kill: until the Service follows', took),
    { what: 'until there were as many passes as clusters', unit: 's', measured: [all / 1_000] },
    { what: 'API calls', unit: '', measured: [total(before.calls, after.calls)] },
    ...costs(before, after, names.length),
  ];
}
