/**
 * A fleet of clusters of three that do nothing but exist, on a real apiserver and a real Temporal with simulated nodes and members
 * (./simulated), looked after by the operator as it is deployed: what it costs when it comes into being, when it is idle, in a storm of
 * changes, and when something dies.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg } from 'node:os';
import { CLIENT_PORT, METRICS_PORT } from '../../src/api/names.ts';
import { ClusterWatch } from './fleet/cluster-watch.ts';
import { printed } from './fleet/figure.ts';
import { adoption } from './fleet/adoption.ts';
import { type Fleet, nameOf, specOf } from './fleet/fleet.ts';
import { PHASES, type PhaseName } from './fleet/phases.ts';
import type { TemporalKind } from '../../test/stack/temporal-server.ts';
import { startSimulatedWorld } from './simulated/world.ts';
import { messageOf } from '../../src/api/values/message-of.ts';

const NAMESPACE = 'fleet';
/** Of a member with listeners of its own: two of them, a connection to each, and one that is about to be closed. */
const FILES_OF_A_MEMBER = 5;
/** Of a member that shares its listeners with others: the connection to its health page, and now and then another one. */
const FILES_OF_A_SHARING_MEMBER = 1.3;
const OTHER_FILES = 1_000;

export interface FleetOptions {
  readonly clusters: number;
  /** So many clusters more are there when the operator starts, copied from one that it has created before. */
  readonly copies: number;
  /** Of a cluster. */
  readonly members: number;
  /** Clusters are created in any case; these are the phases that are gone through besides, in the order of PHASES. */
  readonly phases: readonly PhaseName[];
  /** Creations that are asked for in a second. */
  readonly rate: number;
  readonly replicas: number | undefined;
  /** How large the heap of each thread of a replica may become, in MiB; as deploy/ says when left out. */
  readonly heapMebibytes: number | undefined;
  /** How many requests the API server serves at once; those of everybody together. As it does by itself when left out. */
  readonly requestsInFlight: number | undefined;
  readonly profiles: string | undefined;
  /** Which server of Temporal; the development server when left out. */
  readonly temporal: TemporalKind | undefined;
}

/**
 * @returns whether the members must share their listeners, because this process may not open sockets for each of them
 * @throws when it may not even open as many as there are connections to them; Node has raised the limit as far as it may
 */
function sharesListeners({ clusters, copies, members }: FleetOptions): boolean {
  const [, limit = 'unlimited'] =
    /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  const allowed = limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit) - OTHER_FILES;
  const all = (clusters + copies) * members;
  if (all * FILES_OF_A_SHARING_MEMBER > allowed) {
    const needed = Math.ceil(all * FILES_OF_A_SHARING_MEMBER) + OTHER_FILES;
    throw new Error(
      `${all} members need ${needed} open files and ${limit} are allowed: raise the limit with \`ulimit -n ${needed}\`, or name fewer`,
    );
  }
  return all * FILES_OF_A_MEMBER > allowed;
}

/**
 * Listeners that all members share are at any address, so nothing else may have their ports.
 * @throws when another process on this machine listens on one of them, such as the etcd of a local stack
 */
async function assertPortsAreFree(): Promise<void> {
  for (const port of [CLIENT_PORT, METRICS_PORT]) {
    const server = createServer();
    const listening = once(server, 'listening');
    server.listen(port, '0.0.0.0');
    try {
      await listening;
    } catch (error) {
      throw new Error(
        `so many members share the port ${port}, which is in use on this machine (${messageOf(error)}): end the local stacks that run here, or measure in a network of its own (docs/operations/sizing.md, "Measuring")`,
      );
    } finally {
      server.close();
    }
  }
}

/** Prints each phase as soon as it has ended. Gives whether all of them came to their end. */
export async function measureFleet(options: FleetOptions): Promise<boolean> {
  const shares = sharesListeners(options);
  if (shares) await assertPortsAreFree();
  const begun = performance.now();
  const progress = (text: string): void =>
    console.log(`[${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s] ${text}`);
  progress(
    `${options.clusters + options.copies} clusters; the load of this machine is ${loadavg()
      .map(load => load.toFixed(1))
      .join(' ')}`,
  );
  let end = async (): Promise<void> => {};
  // Programs that are just being started end with this process.
  const interrupted = (): void => {
    console.log('interrupted: ending what was started');
    void end().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  const world = await startSimulatedWorld({ ...options, namespace: NAMESPACE, sharesListeners: shares });
  const clusters = new ClusterWatch(world.kube, NAMESPACE);
  end = async () => {
    await clusters.stop();
    await world.stop();
  };
  try {
    const names = Array.from({ length: options.clusters + options.copies }, (_, number) => nameOf(number));
    const fleet: Fleet = {
      world,
      clusters,
      names,
      created: options.clusters,
      spec: specOf(options.members),
      namespace: NAMESPACE,
      rate: options.rate,
      progress,
    };
    if (options.copies > 0) console.log(`\n${printed('adoption', await adoption(fleet))}\n`);
    return await goThrough(fleet, options.phases);
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await end();
  }
}

async function goThrough(fleet: Fleet, wanted: readonly PhaseName[]): Promise<boolean> {
  let areAllMeasured = true;
  for (const [name, run] of Object.entries(PHASES)) {
    if (name !== 'create' && !wanted.includes(name as PhaseName)) continue;
    const areShared = fleet.world.shareProcessors();
    fleet.progress(`phase ${name} ...${areShared ? '' : ' (no CPU shares: no cgroups can be made here)'}`);
    try {
      const section = await run(fleet);
      console.log(`\n${printed(name, section)}\n  load ${loadavg()[0]?.toFixed(1)}\n`);
    } catch (error) {
      areAllMeasured = false;
      console.error(`\nphase ${name} failed: ${messageOf(error)}\n`);
    }
  }
  return areAllMeasured;
}
