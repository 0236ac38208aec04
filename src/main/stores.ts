/** Opens the stores that backups name. */
import type { EtcdBackup } from '../api/types.ts';
import { type Store, StoreError } from '../store/port.ts';

/** The adapter of the storage type, with the credentials that the specification names. */
export async function openStore({ spec }: EtcdBackup): Promise<Store> {
  throw new StoreError('invalid', `storageType ${spec.storageType} is not carried out by this release`);
}
