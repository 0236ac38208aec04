/** Where a cluster's members keep their data: decided once, then recorded in `status.storage`. Pure. */
import { DEFAULT_CLAIM_SIZE, withDefaults } from '../api/defaults.ts';
import type { ClaimSpec, EtcdClusterSpec, StorageStatus } from '../api/types.ts';

/**
 * What storage a specification gets, in the form of `status.storage`. A specification that asks for none gets claims of the
 * default StorageClass where there is one, and else ephemeral members, which condition Durable then reports.
 * Without `storageClassName` the class is the cluster's default one at the time when the claim is made.
 */
export function storageFor(spec: EtcdClusterSpec, hasDefaultStorageClass: boolean): StorageStatus {
  const { volumeClaimTemplate, emptyDir } = withDefaults(spec).storage;
  if (emptyDir !== undefined) {
    const limit = emptyDir.sizeLimit;
    return {
      kind: 'EmptyDir',
      decidedBy: 'Spec',
      ...(limit === undefined ? {} : { size: String(limit) }),
    };
  }
  if (volumeClaimTemplate !== undefined) {
    const { storageClassName } = volumeClaimTemplate.spec;
    return {
      kind: 'PersistentVolumeClaim',
      decidedBy: 'Spec',
      size: requestedSize(volumeClaimTemplate.spec),
      ...(storageClassName === undefined ? {} : { storageClassName }),
    };
  }
  return hasDefaultStorageClass
    ? { kind: 'PersistentVolumeClaim', decidedBy: 'DefaultStorageClass', size: DEFAULT_CLAIM_SIZE }
    : { kind: 'EmptyDir', decidedBy: 'NoDefaultStorageClass' };
}

/** The storage that a claim asks for, as it was written. */
export function requestedSize(claim: ClaimSpec | undefined): string {
  const size = claim?.resources?.requests?.['storage'];
  return size === undefined || size === '' ? DEFAULT_CLAIM_SIZE : String(size);
}
