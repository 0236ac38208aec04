/** How long a rolling upgrade of three members takes, beside the same with kubectl and etcdctl as a careful person does it. */
import { awaitCondition, manifest, type World } from '../../test/stack/e2e.ts';
import { rollByHand } from '../../test/stack/drill/by-hand.ts';
import { upgradesOf } from '../../test/stack/drill/versions.ts';
import type { Row } from './figures.ts';

const REPETITIONS = 2;
const SIZE = 3;
const VERSIONS = { older: '3.6.5', newer: '3.6.16' } as const;
/** As members that matter have it: without a request they wait for the CPU longer than an election takes on a busy node. */
const POD = { resources: { requests: { cpu: '100m' } } } as const;

/** Seconds for the whole cluster, there and back, in turns with the same by hand while the operator is paused. */
export async function measureUpgrade(world: World, namespace: string): Promise<Row> {
  const at = { namespace, name: 'upgrade' };
  const cluster = {
    at,
    world: () => world,
    kubectl: (...args: string[]) => world.stack.kubectl('-n', namespace, ...args),
  };
  const upgrades = upgradesOf(cluster);
  const byOperator: number[] = [];
  const byHand: number[] = [];
  const upgrade = async (version: string): Promise<void> => {
    const begun = performance.now();
    await upgrades.edit({ version });
    await upgrades.arrive(version);
    byOperator.push((performance.now() - begun) / 1000);
    await awaitCondition(world, at, { type: 'Healthy' });
  };
  await world.kube.apply(manifest(namespace, at.name, { size: SIZE, version: VERSIONS.older, pod: POD }));
  await awaitCondition(world, at, { type: 'Healthy' });
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    await upgrade(VERSIONS.newer);
    await upgrade(VERSIONS.older);
    await upgrades.edit({ paused: true });
    await awaitCondition(world, at, { type: 'Paused' });
    for (const version of [VERSIONS.newer, VERSIONS.older])
      byHand.push((await rollByHand(cluster, version)) / 1000);
    await upgrades.edit({ paused: false });
  }
  return {
    what: `upgrade of ${SIZE} members in place`,
    unit: 's',
    measured: byOperator,
    floor: { what: 'kubectl and etcdctl by hand', measured: byHand },
  };
}
