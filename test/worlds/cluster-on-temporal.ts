/** A cluster in memory whose real workflows run on a real Temporal server. */
import { type Activities, createActivities } from '../../src/activities/index.ts';
import { OperatorWorld } from './operator-world.ts';
import { type Entity, until, type WorkflowBench } from './workflow-bench.ts';
import { Killed } from './workflow-run.ts';

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

/** Activities whose process dies when the world says so: the attempt is lost, and another process makes the next. */
function mortal(world: OperatorWorld, died: () => void): Activities {
  const names = Object.keys(createActivities(world.deps));
  const through =
    (name: string) =>
    async (...args: unknown[]) => {
      try {
        return await world.act(activities => {
          const activity = Reflect.get(activities, name) as (...args: unknown[]) => Promise<unknown>;
          return activity(...args);
        });
      } catch (error) {
        if (error instanceof Killed) {
          died();
          world.reboot();
        }
        throw error;
      }
    };
  return Object.fromEntries(names.map(name => [name, through(name)])) as unknown as Activities;
}
