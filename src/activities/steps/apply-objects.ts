import type { ManifestObject } from '../../objects/manifest.ts';
import { keepsClientsOut } from '../../objects/services.ts';
import type { KubeClient } from '../../kube/port.ts';
import { refTo } from '../../kube/resources.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { isControlledBy } from '../observe/object-facts.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { SHARED_OBJECTS } from './ensure-objects.ts';
import { applyWanted } from './shared/apply-wanted.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Puts our fields of shared objects back (server-side apply): what others own besides stays theirs. An object that
 * is gone or belongs to something else fails with PreconditionChanged.
 */
export const applyObjects: Perform<'applyObjects'> = async (deps, ref, step) =>
  applySharedObjects(deps, await readLivingCluster(deps.kube, ref), step);

/**
 * The same, of an EtcdCluster as it was just read.
 * @throws ApplicationFailure PreconditionChanged when one of them is gone, or belongs to something else
 */
export async function applySharedObjects(
  deps: Dependencies,
  cluster: EtcdCluster,
  step: Pick<StepOf<'applyObjects'>, 'objects' | 'minAvailable'>,
): Promise<void> {
  const { namespace, name, uid } = cluster.metadata;
  for (const { object, follows } of step.objects) {
    const wanted = SHARED_OBJECTS[object](cluster, step);
    const difference = await putBack(deps.kube, { wanted, ownerUid: uid });
    // That the budget follows the members is no news; that somebody edited it is.
    if (difference === undefined || follows === true) continue;
    const message = `restored ${wanted.kind} ${wanted.metadata.name}: ${difference}`;
    recordClusterEvent(deps, { namespace, name, uid }, { reason: 'ObjectPutBack', message });
  }
}

/** What it differed in; undefined when there was nothing to do. */
async function putBack(
  kube: KubeClient,
  { wanted, ownerUid }: { readonly wanted: ManifestObject; readonly ownerUid: string },
): Promise<string | undefined> {
  const { kind, metadata } = wanted;
  const at = refTo(wanted);
  const found = await kube.get(at);
  if (
    found === undefined ||
    found.metadata.deletionTimestamp !== undefined ||
    !isControlledBy(found, ownerUid)
  ) {
    throw preconditionChanged(
      `${kind} ${metadata.namespace}/${metadata.name} is no longer owned by this EtcdCluster`,
    );
  }
  if (keepsClientsOut(found)) throw preconditionChanged(`a restore keeps clients out of ${metadata.name}`);
  return applyWanted(kube, { wanted, found });
}
