import { finalFailure, preconditionChanged } from '../runtime/failures.ts';
import { CLAIM } from '../runtime/kinds.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Asks for another VolumeAttributesClass of this very claim (by uid); the storage driver does the rest while the member runs. An API server that does not
 * know the field drops it without a word.
 */
export const modifyVolume: Perform<'modifyVolume'> = async (deps, ref, step) => {
  await readLivingCluster(deps.kube, ref);
  const at = { ...CLAIM, namespace: ref.namespace, name: step.claim };
  const claim = await deps.kube.get(at);
  if (claim?.metadata.uid !== step.uid || claim.metadata.deletionTimestamp !== undefined)
    throw preconditionChanged(`claim ${step.claim} has been replaced`);
  const spec = { volumeAttributesClassName: step.attributesClass };
  const patched = await deps.kube.patch(at, { metadata: { uid: step.uid }, spec }, { type: 'merge' });
  const { volumeAttributesClassName } = (patched['spec'] ?? {}) as typeof spec;
  if (volumeAttributesClassName === step.attributesClass) return;
  throw finalFailure(
    'ChangedBack',
    `PersistentVolumeClaim ${step.claim} does not keep volumeAttributesClassName: this Kubernetes does not have VolumeAttributesClass (1.34 and later do), or something reverts the change; remove the field from spec.storage.volumeClaimTemplate`,
  );
};
