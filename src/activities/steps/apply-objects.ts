import { type StoredObject, firstDrift, removals } from '../../objects/drift.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import type { KubeObject } from '../../kube/port.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { isControlledBy } from '../observe/pod-facts.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { SHARED_OBJECTS } from './ensure-objects.ts';
import type { Perform } from './perform.ts';

/**
 * Puts our fields of shared objects back (server-side apply): what others own besides stays theirs. An object that
 * is gone or belongs to something else fails with PreconditionChanged.
 */
export const applyObjects: Perform<'applyObjects'> = async (deps, ref, step) => {
  const cluster = await readLivingCluster(deps.kube, ref);
  for (const { object } of step.objects) {
    const wanted = SHARED_OBJECTS[object](cluster);
    const difference = await putBack(deps, ref, wanted);
    if (difference === undefined) continue;
    const message = `restored ${wanted.kind} ${wanted.metadata.name}: ${difference}`;
    recordClusterEvent(deps, ref, { reason: 'ObjectPutBack', message });
  }
};

/** What it differed in; undefined when there was nothing to do. */
async function putBack(
  deps: Dependencies,
  ref: ClusterRef,
  wanted: ManifestObject,
): Promise<string | undefined> {
  const { apiVersion, kind, metadata } = wanted;
  const at = { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
  const found = await deps.kube.get(at);
  if (
    found === undefined ||
    found.metadata.deletionTimestamp !== undefined ||
    !isControlledBy(found, ref.uid)
  ) {
    throw preconditionChanged(
      `${kind} ${metadata.namespace}/${metadata.name} is no longer owned by this EtcdCluster`,
    );
  }
  const stored = asStored(found);
  const difference = firstDrift(stored, wanted);
  if (difference === undefined) return undefined;
  const { uid, resourceVersion } = found.metadata;
  const taken = removals(stored, wanted);
  if (taken !== undefined) {
    const patch = {
      ...taken,
      metadata: { ...('metadata' in taken && (taken.metadata as object)), uid, resourceVersion },
    };
    await deps.kube.patch(at, patch, { type: 'merge' });
  }
  // Under its uid: one that was deleted and made anew by somebody is not touched.
  await deps.kube.apply({ ...wanted, metadata: { ...metadata, uid } });
  return difference;
}

/** An object of the apiserver, as it is compared. */
function asStored(object: KubeObject): StoredObject {
  return object as unknown as StoredObject;
}
