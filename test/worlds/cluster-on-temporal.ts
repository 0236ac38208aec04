/** A cluster in memory whose real workflows run on a real Temporal server. */
import { mortal } from './mortal-activities.ts';
import { OperatorWorld } from './operator-world.ts';
import { type Entity, until, type WorkflowBench } from './workflow-bench.ts';

export interface ClusterOnTemporal {
  readonly world: OperatorWorld;
  readonly entity: Entity;
  /** Attempts of activities whose process died. */
  readonly deaths: () => number;
}

/** Waits until its workflows have created it. */
export async function clusterOn(bench: WorkflowBench): Promise<ClusterOnTemporal> {
  const entity = bench.entity();
  const world = new OperatorWorld({ name: entity.name });
  world.now = Date.now();
  // Its workflows know it by another uid than that which the API server would have given.
  world.kube.mutate(world.resource, object => void (object.metadata.uid = entity.ref.uid));
  world.ref = entity.ref;
  let deaths = 0;
  await bench.serve(
    entity,
    mortal(world, () => (deaths += 1)),
  );
  await entity.changed();
  await until(() => recordsOf(world).some(({ type }) => type === 'createCluster'));
  return { world, entity, deaths: () => deaths };
}

/** The records of operations, newest first. */
export function recordsOf(world: OperatorWorld) {
  return world.cluster.status.history ?? [];
}
