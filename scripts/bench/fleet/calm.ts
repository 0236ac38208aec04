/** A fleet that nothing happens to, and one in which one cluster after the other changes. */
import { setTimeout as delay } from 'node:timers/promises';
import { cost, parts } from './cost.ts';
import { grown } from './count.ts';
import { type Section, spread } from './figure.ts';
import { changeAndRepair, type Fleet, sampleOf, untilQuiet } from './fleet.ts';
import { recorded } from './history.ts';
import { ETCD_IO, OF_A_CLUSTER, targetsOf } from './targets.ts';
import { reading } from './usage.ts';

const IDLE_MS = 90_000;
const CHANGES = 30;

/** Ninety seconds in which nothing happens, after all that a start and creations cause has come to its end. */
export async function idle(fleet: Fleet): Promise<Section> {
  const { world, names } = fleet;
  await untilQuiet(fleet);
  const recordedBefore = await recorded(world);
  const before = await reading(world);
  await delay(IDLE_MS);
  const after = await reading(world);
  const recordedAfter = await recorded(world);
  const seconds = (after.at - before.at) / 1_000;
  const ofCluster = (count: number): number => (count / names.length / seconds) * 3_600;
  const events = recordedAfter.events - recordedBefore.events;
  const targets = targetsOf(names.length);
  const calls = [...grown(before.callsByKind, after.callsByKind)];
  const sumOf = (isCounted: (call: string) => boolean): number =>
    calls.reduce((all, [call, count]) => all + (isCounted(call) ? count : 0), 0);
  return {
    figures: [
      ...cost(before, after, {
        clusters: names.length,
        targets: {
          processor: targets.idleProcessor,
          memory: targets.memory,
          calls: targets.idleCalls,
        },
        peers: { processor: ETCD_IO.idleProcessor, memory: ETCD_IO.memory, calls: ETCD_IO.idleCalls },
      }),
      {
        what: 'API calls of a cluster, without watches and leases',
        unit: '1/h',
        value: ofCluster(sumOf(call => !call.endsWith(' Lease'))),
        target: OF_A_CLUSTER.calls,
      },
      {
        what: 'writes to EtcdClusters and their statuses',
        unit: '',
        value: sumOf(call => call.endsWith(' EtcdCluster') && !call.startsWith('GET ')),
        target: OF_A_CLUSTER.statusWrites,
      },
      { what: 'events of histories', unit: '1/s', value: events / seconds, target: targets.idleEvents },
      {
        what: 'events of histories of a cluster',
        unit: '1/h',
        value: ofCluster(events),
        target: OF_A_CLUSTER.events,
      },
      {
        what: 'history of a cluster',
        unit: 'KiB/h',
        value: ofCluster((recordedAfter.bytes - recordedBefore.bytes) / 1024),
        target: OF_A_CLUSTER.kibibytes,
      },
    ],
    notes: parts(before, after, 1),
  };
}

/** Changes of one cluster at a time, each awaited. */
export async function change(fleet: Fleet): Promise<Section> {
  const { world, names, progress } = fleet;
  const changed = sampleOf(names, CHANGES);
  const before = await reading(world);
  const took: number[] = [];
  for (const name of changed) {
    took.push(await changeAndRepair(fleet, name));
    await delay(200);
  }
  progress(`${took.length} changes were repaired`);
  await untilQuiet(fleet);
  const after = await reading(world);
  return {
    figures: [
      ...spread('from a change to the end of its first step', took, {
        target: targetsOf(names.length).change,
      }),
      ...cost(before, after, { clusters: changed.length }),
    ],
    notes: parts(before, after, changed.length),
  };
}
