/** The clusters of a fleet: their names, and what is waited for. */
import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION, clientServiceName } from '../../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { poll } from '../../../test/stack/poll.ts';
import type { SimulatedWorld } from '../simulated/world.ts';
import type { ClusterWatch } from './cluster-watch.ts';
import { work } from './usage.ts';

export interface Fleet {
  readonly world: SimulatedWorld;
  readonly namespace: string;
  readonly names: readonly string[];
  /** Creations that are asked for in a second. */
  readonly rate: number;
  /** Follows the clusters from before the first of them. */
  readonly clusters: ClusterWatch;
  readonly progress: (text: string) => void;
}

export const CLUSTER = { apiVersion: API_VERSION, kind: 'EtcdCluster' } as const;
/** Data in the pod: volumes would have to be simulated as well. */
export const SPEC = { size: 3, version: '3.6.16', storage: { emptyDir: {} } } satisfies EtcdClusterSpec;

export const nameOf = (number: number): string => `fleet-${number}`;

const QUIET_MS = 10_000;
/** A watcher may signal every cluster twice, some ten a second. */
const QUIET_PATIENCE_MS = { ofAll: 900_000, ofEach: 200 } as const;
const REPAIR_PATIENCE_MS = 180_000;

const clientService = (namespace: string, cluster: string) =>
  ({ apiVersion: 'v1', kind: 'Service', namespace, name: clientServiceName(cluster) }) as const;

/** Waits until the operator has neither begun a pass nor sent a signal for ten seconds, or for `quietMs` milliseconds. */
export async function untilQuiet({ world, names, progress }: Fleet, quietMs = QUIET_MS): Promise<void> {
  const patienceMs = QUIET_PATIENCE_MS.ofAll + QUIET_PATIENCE_MS.ofEach * names.length;
  const end = performance.now() + patienceMs;
  let last = await work(world);
  let since = performance.now();
  while (performance.now() - since < quietMs) {
    if (performance.now() > end) throw new Error(`the operator still works after ${patienceMs / 1_000} s`);
    await delay(1_000);
    const now = await work(world);
    if (now !== last) [last, since] = [now, performance.now()];
  }
  progress('quiet');
}

/**
 * Deletes the client Service of a cluster and waits until the operator has made it again: a change, and the first step that follows.
 * @param intervalMs how often it is looked for
 * @returns milliseconds
 */
export async function changeAndRepair(
  { world: { kube }, namespace }: Pick<Fleet, 'world' | 'namespace'>,
  cluster: string,
  intervalMs = 20,
): Promise<number> {
  const ref = clientService(namespace, cluster);
  const before = await kube.get(ref);
  if (before === undefined) throw new Error(`${cluster} has no client Service that could be deleted`);
  const begun = performance.now();
  await kube.delete(ref);
  await poll(
    async () => {
      const found = await kube.get(ref);
      return found !== undefined && found.metadata.uid !== before.metadata.uid;
    },
    {
      intervalMs,
      timeoutMs: REPAIR_PATIENCE_MS,
      otherwise: () => `nobody made the client Service of ${cluster} anew`,
    },
  );
  return performance.now() - begun;
}

/**
 * Changes the specification of a cluster, as a user does while nobody watches, and waits until the client Service shows it.
 * @param intervalMs how often it is looked for
 * @returns milliseconds
 */
export async function changeSpecification(
  { world: { kube }, namespace }: Pick<Fleet, 'world' | 'namespace'>,
  cluster: string,
  intervalMs: number,
): Promise<number> {
  const begun = performance.now();
  const changed = `${begun}`;
  await kube.patch(
    { ...CLUSTER, namespace, name: cluster },
    { spec: { service: { annotations: { changed } } } },
    { type: 'merge' },
  );
  await poll(
    async () =>
      (await kube.get(clientService(namespace, cluster)))?.metadata.annotations?.['changed'] === changed,
    {
      intervalMs,
      timeoutMs: REPAIR_PATIENCE_MS,
      otherwise: () => `the client Service of ${cluster} did not follow its specification`,
    },
  );
  return performance.now() - begun;
}

/** So many clusters, evenly spread over all of them. */
export function sampleOf(names: readonly string[], count: number): string[] {
  const step = Math.max(1, names.length / count);
  return Array.from({ length: Math.min(count, names.length) }, (_, at) => names[Math.floor(at * step)] ?? '');
}
