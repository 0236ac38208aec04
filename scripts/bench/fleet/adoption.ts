/** An operator starts that has never seen a fleet before: no workflow exists of its clusters, which are copies of one. */
import { manifest } from '../../../test/stack/e2e.ts';
import { poll } from '../../../test/stack/poll.ts';
import { copyCluster } from '../simulated/copies.ts';
import { cost, parts } from './cost.ts';
import type { Section } from './figure.ts';
import { type Fleet, untilQuiet } from './fleet.ts';
import { passes, reading, untilWatched } from './usage.ts';

const ORIGINAL = 'fleet-original';
const TOLD_EACH = 500;
const PATIENCE_MS = 3_600_000;
const PROGRESS_MS = 10_000;

export async function adoption(fleet: Fleet): Promise<Section> {
  const { world, namespace, clusters, spec, progress } = fleet;
  const copies = fleet.names.slice(fleet.created);
  await untilWatched(world);
  await world.kube.apply(manifest(namespace, ORIGINAL, spec));
  await clusters.untilHealthy([ORIGINAL], progress);
  await untilQuiet(fleet);
  const replicas = world.operators();
  await Promise.all(replicas.map(world.killOperator));
  const onWritten = (count: number): void => {
    if (count % TOLD_EACH === 0) progress(`${count} of ${copies.length} clusters are copied`);
  };
  await copyCluster(world.kube, { namespace, original: ORIGINAL, names: copies, onWritten });
  await clusters.untilHealthy(copies, progress);
  const before = await reading(world);
  await Promise.all(replicas.map(() => world.startOperator()));
  await untilLookedAt(fleet, copies.length);
  await untilQuiet(fleet);
  const after = await reading(world);
  return {
    figures: cost(before, after, { clusters: copies.length }),
    notes: parts(before, after, copies.length),
  };
}

/** Waits until there were as many passes as clusters; each has one before any has its second, but for a few. */
async function untilLookedAt({ world, progress }: Fleet, clusters: number): Promise<void> {
  let told = performance.now();
  await poll(
    async () => {
      const now = await passes(world);
      if (performance.now() - told > PROGRESS_MS) {
        progress(`${now} of ${clusters} clusters were looked at`);
        told = performance.now();
      }
      return now >= clusters;
    },
    { timeoutMs: PATIENCE_MS, intervalMs: 1_000 },
  );
}
