/** Nodes that are drained, one pod or all of them at a time, and users who change what their PodDisruptionBudget allows. */
import type { KubeObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import { mayLose } from './faults-of-disks.ts';
import { faultOfEviction } from './invariants-of-evictions.ts';
import { Breach } from './invariants.ts';
import { isEphemeral, isSeed } from './sim-kubelet.ts';
import type { SimWorld } from './sim-world.ts';

/** Somebody asks for the eviction of a pod. Whether it is let go. */
export function evict(world: SimWorld, pod: KubeObject): boolean {
  const { kube, etcd, disruptions, invariants } = world;
  const how = disruptions.ask(pod);
  if (how === undefined) return false;
  // Who writes the same size again wishes for nothing else.
  const sizes = invariants.sizes
    .map(([, size]) => size)
    .filter((size, index, all) => size !== all[index - 1]);
  const fault = faultOfEviction({ kube, etcd, truth: invariants.truth, disruptions, sizes }, pod, how);
  if (fault !== undefined) throw new Breach(fault);
  kube.delete('Pod', pod.metadata.name);
  return true;
}

/** Of one pod, of all at once, or of as many as are let go within a moment. */
const drained: Fault = (world, random) => {
  const pods = random.shuffled(world.kube.all('Pod'));
  const asked = random.chance(0.4) ? pods.slice(0, 1) : pods;
  const gone = asked.filter(pod => {
    if (isSeed(pod) || (isEphemeral(pod) && !mayLose(world, pod.metadata.uid ?? ''))) return false;
    return evict(world, pod);
  });
  if (asked.length === 0) return undefined;
  const names = (of: readonly KubeObject[]) => of.map(({ metadata }) => metadata.name).join(', ');
  return gone.length === 0 ? `${names(asked)} refused` : names(gone);
};

/** Somebody lets all go, or none. */
const budgetEdited: Fault = (world, random) => {
  const { budget } = world.disruptions;
  if (budget === undefined) return undefined;
  const { maxUnavailable: _, ...spec } = budget['spec'] as Record<string, unknown>;
  const minAvailable = random.below(6);
  world.kube.change(budget, { spec: { ...spec, minAvailable } });
  world.disruptions.edited();
  return String(minAvailable);
};

export const faultsOfEvictions = { drained, budgetEdited } satisfies Record<string, Fault>;
