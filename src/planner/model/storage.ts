import type { StorageStatus } from '../../api/schemas/types.ts';
import { requestedSize } from '../../objects/storage.ts';
import type { Observation } from './observation.ts';

/**
 * Where the members of a new cluster keep their data: as the specification says; without a word from it, on claims of
 * the default StorageClass where there is one, else in the pod. Decided once and recorded, because a StorageClass
 * that appears later must not change what the members already have.
 */
export function storageFor({ cluster, defaultStorageClass }: Observation): StorageStatus {
  const { storage, pod } = cluster.config;
  if (storage.emptyDir !== undefined) return { kind: 'EmptyDir', decidedBy: 'Spec' };
  const claim = storage.volumeClaimTemplate?.spec ?? pod.persistentVolumeClaimSpec;
  if (claim === undefined && defaultStorageClass === undefined) {
    return { kind: 'EmptyDir', decidedBy: 'NoDefaultStorageClass' };
  }
  const storageClassName = claim?.storageClassName ?? defaultStorageClass;
  return {
    kind: 'PersistentVolumeClaim',
    ...(storageClassName === undefined ? {} : { storageClassName }),
    size: requestedSize(claim),
    decidedBy: claim === undefined ? 'DefaultStorageClass' : 'Spec',
  };
}
