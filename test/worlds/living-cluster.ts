/** A cluster in memory that lives already, what people change of it, and what it says of itself. */
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
