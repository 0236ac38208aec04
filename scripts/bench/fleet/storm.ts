/** Many changes of some clusters, their Services and their pods; meanwhile others change once. */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '../../../src/kube/port.ts';
import { manifest } from '../../../test/stack/e2e.ts';
import { cost } from './cost.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { type Section, spread } from './figure.ts';
import {
  changeAndRepair,
  clientService,
  CLUSTER,
  type Fleet,
  nameOf,
  sampleOf,
  untilQuiet,
} from './fleet.ts';
import { inOrder } from '../at-once.ts';
import { asPerson } from '../simulated/person.ts';
import { targetsOf } from './targets.ts';
import { reading } from './usage.ts';

const CLUSTERS = 100;
const CHANGES_EACH = 100;
const SECONDS = 10;
const AT_ONCE = 32;
const OTHERS = 30;
const CALM = 'fleet-calm';
const CALM_CLUSTERS = 10;

interface ChangedCluster {
  readonly namespace: string;
  readonly name: string;
}

/** Changes something of a cluster; `round` counts the changes of this cluster from 0. */
type Change = (person: KubeClient, of: ChangedCluster, round: number) => Promise<void>;

/** Who changes, what is changed all the time, and what is changed once in a while meanwhile. */
interface Storm {
  readonly fleet: Fleet;
  readonly person: KubeClient;
  readonly stormy: readonly string[];
  /** Of the namespace of the storm. */
  readonly neighbours: readonly string[];
  /** Of another namespace. */
  readonly calm: readonly string[];
}

interface Changes {
  readonly perSecond: number;
  /** How long changes took in another namespace, and in that of the storm, in milliseconds. */
  readonly elsewhere: readonly number[];
  readonly beside: readonly number[];
}

/**
 * Ten thousand changes of a hundred clusters in ten seconds; of fewer clusters, as many each, on half of them. Before it, as many changes
 * of ConfigMaps, which concern no operator: how long a change of a cluster takes meanwhile is the floor.
 */
export async function storm(fleet: Fleet): Promise<Section> {
  const { world, names } = fleet;
  const stormy = names.slice(0, Math.min(CLUSTERS, Math.floor(names.length / 2)));
  const neighbours = sampleOf(names, OTHERS, stormy.length);
  const calm = await calmClusters(fleet);
  return asPerson(world.plane, 'fleet-storm', person =>
    measured({ fleet, person, stormy, neighbours, calm }),
  );
}

async function measured(of: Storm): Promise<Section> {
  const { fleet, stormy } = of;
  const { world, names, clusters, progress } = fleet;
  const floor = await changesDuring(of, changeConfigMap);
  await untilQuiet(fleet);
  const before = await reading(world);
  const { perSecond, elsewhere, beside } = await changesDuring(of, changeCluster);
  await clusters.untilHealthy(stormy, progress);
  await untilQuiet(fleet);
  const after = await reading(world);
  return {
    figures: [
      { what: `changes of ${stormy.length} clusters`, unit: '', value: stormy.length * CHANGES_EACH },
      {
        what: 'changes',
        unit: '1/s',
        value: perSecond,
        target: String((CLUSTERS * CHANGES_EACH) / SECONDS),
      },
      ...spread('in another namespace, from a change to the end of its first step', elsewhere, {
        target: targetsOf(names.length).changeInStorm,
      }),
      { what: 'changes in another namespace', unit: '', value: elsewhere.length },
      ...spread('of other clusters of the namespace of the storm', beside),
      { what: 'changes of other clusters of that namespace', unit: '', value: beside.length },
      { what: 'floor: as many changes of ConfigMaps', unit: '1/s', value: floor.perSecond },
      ...spread('floor: in another namespace meanwhile', floor.elsewhere),
      ...spread('floor: of other clusters of the namespace meanwhile', floor.beside),
      ...cost(before, after, { clusters: stormy.length }),
    ],
    notes: ['the length of the phase has the ten seconds in which the operator must be quiet at its end'],
  };
}

/** Has the person change what belongs to the stormy clusters, and meanwhile changes others, one at a time in each of two namespaces. */
async function changesDuring(of: Storm, change: Change): Promise<Changes> {
  const { fleet, stormy, neighbours, calm } = of;
  const { world, progress } = fleet;
  const begun = performance.now();
  let isOver = false;
  const storming = changeAll(of, change).finally(() => {
    isOver = true;
  });
  const changeWhile = async (namespace: string, others: readonly string[]): Promise<number[]> => {
    const took: number[] = [];
    for (let at = 0; !isOver && others.length > 0; at += 1) {
      took.push(await changeAndRepair({ world, namespace }, others[at % others.length] ?? ''));
      await delay(50);
    }
    return took;
  };
  const watching = Promise.all([changeWhile(CALM, calm), changeWhile(fleet.namespace, neighbours)]);
  await storming;
  const changes = stormy.length * CHANGES_EACH;
  const lasted = (performance.now() - begun) / 1_000;
  progress(`${changes} changes in ${lasted.toFixed(1)} s`);
  const [elsewhere, beside] = await watching;
  return { perSecond: changes / lasted, elsewhere, beside };
}

/** The names of a few clusters in a namespace of their own, which are made. */
async function calmClusters({ world, progress, spec }: Fleet): Promise<readonly string[]> {
  await world.kube.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CALM } });
  const names = Array.from({ length: CALM_CLUSTERS }, (_, number) => nameOf(number));
  const clusters = new ClusterWatch(world.kube, CALM);
  try {
    await Promise.all(names.map(name => world.kube.apply(manifest(CALM, name, spec))));
    await clusters.untilHealthy(names, progress);
  } finally {
    await clusters.stop();
  }
  return names;
}

/** In turns one change of each cluster, as fast as the API server takes them, but over ten seconds at least. */
async function changeAll({ fleet, person, stormy }: Storm, change: Change): Promise<void> {
  const begun = performance.now();
  const perSecond = (stormy.length * CHANGES_EACH) / SECONDS;
  await inOrder(stormy.length * CHANGES_EACH, AT_ONCE, async at => {
    await delay(Math.max(0, begun + (at * 1_000) / perSecond - performance.now()));
    const name = stormy[at % stormy.length] ?? '';
    await change(person, { namespace: fleet.namespace, name }, Math.floor(at / stormy.length));
  });
}

/** A ConfigMap with the name of the cluster, which nobody watches. */
async function changeConfigMap(
  kube: KubeClient,
  { namespace, name }: ChangedCluster,
  round: number,
): Promise<void> {
  const metadata = { namespace, name: `storm-${name}` };
  await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { round: String(round) } });
}

/**
 * In turns the specification, a Service and a pod.
 * @param round the last one of each kind leaves things as they should be, but for the Service, which the operator repairs
 */
async function changeCluster(
  kube: KubeClient,
  { namespace, name }: ChangedCluster,
  round: number,
): Promise<void> {
  if (round % 3 === 0) {
    const service = { annotations: { 'fleet-storm': String(round) } };
    await kube.patch({ ...CLUSTER, namespace, name }, { spec: { service } }, { type: 'merge' });
    return;
  }
  if (round % 3 === 1) {
    const selector = { 'fleet-storm': String(round) };
    await kube.patch(clientService(namespace, name), { spec: { selector } }, { type: 'merge' });
    return;
  }
  const ready = round % 2 === 0 || round > CHANGES_EACH - 6;
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const pod = { apiVersion: 'v1', kind: 'Pod', namespace, name: `${name}-0` };
  await kube.patch(pod, { status: { conditions } }, { type: 'merge', subresource: 'status' });
}
