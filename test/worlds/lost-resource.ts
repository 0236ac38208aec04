/** An EtcdCluster that is not there any more, while what it owned still is. */
import { API_VERSION } from '../../src/api/names.ts';
import type { OperatorWorld } from './operator-world.ts';

export async function vanish(world: OperatorWorld): Promise<void> {
  world.kube.mutate(world.resource, object => void (object.metadata.finalizers = []));
  await world.deleteCluster();
}

/** `kubectl replace --force`: another resource of the same name, which is not ours to touch. */
export async function replaced(world: OperatorWorld): Promise<void> {
  await vanish(world);
  world.kube.seed({
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    metadata: { name: 'example', namespace: 'shop' },
  });
}
