/** Opens the store that a backup names, with the credentials that its Secret holds. */
import type { EtcdBackup } from '../../api/types.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { type ClaimStoreDeps, openClaim } from './claim-store.ts';

/** The opener of all storage types. What it opens is to be closed. */
export function storeOpener(deps: ClaimStoreDeps): (backup: EtcdBackup) => Promise<Store> {
  return async ({ metadata, spec }) => {
    if (spec.storageType === 'File' && spec.file !== undefined) {
      const { namespace, name, uid } = metadata;
      return openClaim(deps, { kind: 'EtcdBackup', namespace, name, uid }, spec.file.claim);
    }
    throw new StoreError('invalid', `storageType ${spec.storageType} is not carried out by this release`);
  };
}
