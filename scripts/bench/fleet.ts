/**
 * A fleet of clusters of three on a real API server and a real Temporal with simulated nodes and members (./simulated), looked after by the
 * operator as it is deployed: what it costs when it comes into being, when it is idle, in a storm of changes, and when a replica dies.
 */
import { loadavg } from 'node:os';
import { messageOf } from '../../src/api/values/message-of.ts';
import type { TemporalKind } from '../../test/stack/temporal-server.ts';
import { table } from './figures.ts';
import { ClusterWatch } from './fleet/cluster-watch.ts';
import { type Fleet, nameOf } from './fleet/fleet.ts';
import { PHASES, type PhaseName } from './fleet/phases.ts';
import { startSimulatedWorld } from './simulated/world.ts';

const NAMESPACE = 'fleet';

export interface FleetOptions {
  readonly clusters: number;
  /** Clusters are created in any case; these are the phases that are gone through besides, in the order of PHASES. */
  readonly phases: readonly PhaseName[];
  /** Creations that are asked for in a second. */
  readonly rate: number;
  readonly replicas: number;
  readonly temporal: TemporalKind;
}

/** Prints each phase as soon as it has ended. Gives whether all of them came to their end. */
export async function measureFleet(options: FleetOptions): Promise<boolean> {
  const begun = performance.now();
  const progress = (text: string): void =>
    console.log(`[${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s] ${text}`);
  let end = async (): Promise<void> => {};
  // Programs that are just being started end with this process.
  const interrupted = (): void => {
    console.log('interrupted: ending what was started');
    void end().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  const world = await startSimulatedWorld({ ...options, namespace: NAMESPACE });
  const clusters = new ClusterWatch(world.kube, NAMESPACE);
  end = async () => {
    await clusters.stop();
    await world.stop();
  };
  try {
    const names = Array.from({ length: options.clusters }, (_, number) => nameOf(number));
    return await goThrough(
      { world, clusters, names, namespace: NAMESPACE, rate: options.rate, progress },
      options.phases,
    );
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await end();
  }
}

async function goThrough(fleet: Fleet, wanted: readonly PhaseName[]): Promise<boolean> {
  let areAllMeasured = true;
  for (const [name, run] of Object.entries(PHASES)) {
    if (name !== 'create' && !wanted.includes(name as PhaseName)) continue;
    fleet.progress(`phase ${name} ...`);
    try {
      console.log(`\n${table(await run(fleet))}\nload ${loadavg()[0]?.toFixed(1)}\n`);
    } catch (error) {
      areAllMeasured = false;
      console.error(`\nphase ${name} failed: ${messageOf(error)}\n`);
    }
  }
  return areAllMeasured;
}
