import type { EtcdCluster } from '../../api/schemas/types.ts';
import { withDefaults } from '../../api/defaults/etcd-cluster.ts';
import { disruptionBudget, minAvailableOf } from '../../objects/budget.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import { clientService, keepsClientsOut, peerService } from '../../objects/services.ts';
import type { SharedObject } from '../../planner/model/decision.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { refTo } from '../../kube/resources.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { SERVICE } from '../runtime/kinds.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { applyWanted } from './shared/apply-wanted.ts';
import { createOwned } from './shared/create-owned.ts';
import type { Perform } from './shared/perform.ts';

/** The builder of each shared object. */
export const SHARED_OBJECTS: Record<
  SharedObject,
  (cluster: EtcdCluster, step: { readonly minAvailable?: number | undefined }) => ManifestObject
> = {
  peerService,
  clientService,
  disruptionBudget: (cluster, { minAvailable }) => {
    const wanted = withDefaults(cluster.spec).size;
    // A step of an earlier release names no number.
    return disruptionBudget(cluster, minAvailable ?? minAvailableOf({ voters: wanted, learners: 0, wanted }));
  },
};

/** Creates shared objects that are missing. The client Service only opens once the cluster id is recorded. */
export const ensureObjects: Perform<'ensureObjects'> = async (deps, ref, step) =>
  createMissing(deps, await readLivingCluster(deps.kube, ref), step);

/**
 * The same, of an EtcdCluster as it was just read.
 * @throws ApplicationFailure PreconditionChanged when it has no cluster id yet, or something else bears the name of one of them
 */
export async function createMissing(
  deps: Dependencies,
  cluster: EtcdCluster,
  step: Pick<StepOf<'ensureObjects'>, 'objects' | 'minAvailable'>,
): Promise<void> {
  const { namespace, name, uid } = cluster.metadata;
  const { objects } = step;
  if (objects.includes('clientService') && cluster.status?.clusterID === undefined) {
    throw preconditionChanged('no cluster id is recorded: the client Service is not created');
  }
  for (const object of objects.map(each => SHARED_OBJECTS[each](cluster, step))) {
    const outcome = await createOwned(deps.kube, object, uid);
    if (object.kind === SERVICE.kind && outcome === 'found') await letClientsIn(deps, object);
    // That a cluster which is being created gets its Service is no news beside that it was formed and is available.
    if (outcome === 'created' && cluster.status?.phase !== 'Creating') {
      const message = `created ${object.kind} ${object.metadata.name}`;
      recordClusterEvent(deps, { namespace, name, uid }, { reason: 'ObjectCreated', message });
    }
  }
}

/** A restore keeps clients out by a Service that selects nobody. */
async function letClientsIn({ kube }: Dependencies, wanted: ManifestObject): Promise<void> {
  const found = await kube.get(refTo(wanted));
  if (found !== undefined && keepsClientsOut(found)) await applyWanted(kube, { wanted, found });
}
