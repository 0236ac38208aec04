/** All clusters are deleted at once. */
import { cost, parts } from './cost.ts';
import { type Section, spread } from './figure.ts';
import { CLUSTER, type Fleet, untilQuiet } from './fleet.ts';
import { reading } from './usage.ts';

export async function deletion(fleet: Fleet): Promise<Section> {
  const { world, names, namespace, clusters, progress } = fleet;
  const before = await reading(world);
  const begun = performance.now();
  await Promise.all(names.map(name => world.kube.delete({ ...CLUSTER, namespace, name })));
  await clusters.untilGone(names, progress);
  const took = [...clusters.gone().values()].map(at => at - begun);
  await untilQuiet(fleet);
  const after = await reading(world);
  return {
    figures: [
      ...spread('from the deletion of all to gone', took),
      ...cost(before, after, { clusters: names.length }),
    ],
    notes: parts(before, after, names.length),
  };
}
