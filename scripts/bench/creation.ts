/** How long a cluster takes from apply to available, beside the same pods made by hand. */
import { removeByHand, timeByHand, timeToAvailable } from '../../test/stack/creation.ts';
import { awaitCondition, manifest, type World } from '../../test/stack/e2e.ts';
import type { Row } from './figures.ts';

const REPETITIONS = 5;
const SPEC = { size: 3, version: '3.6.16' } as const;

/** In turns, so that what the machine does besides falls on both alike. Leaves nothing behind. */
export async function measureCreation(world: World, namespace: string): Promise<Row> {
  const byOperator: number[] = [];
  const byHand: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    const cluster = manifest(namespace, `bench-${repetition}`, SPEC);
    byOperator.push(await timeToAvailable(world, cluster));
    await awaitCondition(world, { namespace, name: cluster.metadata.name }, { type: 'Healthy' });
    await world.stack.kubectl(
      '-n',
      namespace,
      'delete',
      'etcd',
      cluster.metadata.name,
      '--wait=true',
      '--timeout=120s',
    );
    const pods = manifest(namespace, `hand-${repetition}`, SPEC);
    byHand.push(await timeByHand(world, pods));
    await removeByHand(world, pods);
  }
  return {
    what: 'apply to Available, three members',
    unit: 's',
    measured: byOperator,
    floor: { what: 'the same pods by hand', measured: byHand },
  };
}
