/** Our fields of an object that is there, put back by server-side apply. */
import { type StoredObject, firstDrift, removals } from '../../../objects/drift.ts';
import type { ManifestObject } from '../../../objects/manifest.ts';
import type { KubeClient, KubeObject } from '../../../kube/port.ts';
import { refTo } from '../../../kube/resources.ts';

/** Puts our fields of an object back; answers what it differed in, and undefined when there was nothing to do. */
export async function applyWanted(
  kube: KubeClient,
  { wanted, found }: { readonly wanted: ManifestObject; readonly found: KubeObject },
): Promise<string | undefined> {
  const { metadata } = wanted;
  const at = refTo(wanted);
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
    await kube.patch(at, patch, { type: 'merge' });
  }
  // Under its uid: one that was deleted and created again by somebody is not touched.
  await kube.apply({ ...wanted, metadata: { ...metadata, uid } });
  return difference;
}

/** An object of the apiserver, as it is compared. */
function asStored(object: KubeObject): StoredObject {
  return object as unknown as StoredObject;
}
