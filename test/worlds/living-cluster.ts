/** A cluster in memory that lives already, what users change of it, and what it says of itself. */
import { expect } from 'vitest';
import type { Condition, EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { OperatorWorld } from './operator-world.ts';

/** A world whose operator has made the cluster, of three members unless the specification asks for another size. */
export async function created(spec: EtcdClusterSpec = {}, storageClass = true): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', ...spec }, storageClass });
  await world.run();
  await world.run();
  return world;
}

/** Somebody edits the specification; a field that is null is taken away. */
export async function edit(world: OperatorWorld, spec: EtcdClusterSpec): Promise<void> {
  await world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });
}

/** A condition of the cluster's status. */
export function condition(world: OperatorWorld, type: string): Condition | undefined {
  return world.cluster.status.conditions?.find(found => found.type === type);
}

/** The voters, by name; no learner is left. */
export function voters(world: OperatorWorld): string[] {
  const rows = world.etcd.clusters[0]?.rows ?? [];
  expect(rows.filter(row => row.isLearner)).toEqual([]);
  return rows.map(row => row.name);
}

/** The member that leads. */
export function leader(world: OperatorWorld): string {
  const [etcd] = world.etcd.clusters;
  return etcd?.rows.find(row => row.id === etcd.leaderId)?.name ?? '';
}

export function podUids(world: OperatorWorld): string[] {
  return world.kube.all('Pod').map(pod => pod.metadata.uid ?? '');
}

/** Every pod that the operator deletes from now on, with how many members could serve at that moment. */
export function watchDeletions(
  world: OperatorWorld,
): { name: string | undefined; serving: number; leads: boolean }[] {
  const seen: { name: string | undefined; serving: number; leads: boolean }[] = [];
  world.kube.intercept(call => {
    if (call.verb !== 'delete' || call.kind !== 'Pod' || call.manager !== 'etcd-operator') return;
    const serving = world.etcd.clusters[0]?.processes.size ?? 0;
    seen.push({ name: call.name, serving, leads: leader(world) === call.name });
  });
  return seen;
}
