import { API_VERSION } from '../../api/names.ts';
import type { BackupEntry, EtcdRestore } from '../../api/schemas/types.ts';
import { hasEnded } from '../../planner/model/restore-of-cluster.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { BackupRef } from '../resource/etcd-backup.ts';

/**
 * Which of these backups EtcdRestores have begun with and may still have to read. They go when those have ended. All namespaces that
 * this operator looks after are asked, so whoever needs it asks only when something is to be deleted. In the EtcdBackup's own
 * namespace the location is enough. Elsewhere it may be one of a store of somebody's own: there the restore has to have read the
 * very content, by its SHA-256.
 */
export async function neededByRestores(
  { kube, watchNamespace }: Pick<Dependencies, 'kube' | 'watchNamespace'>,
  { namespace }: Pick<BackupRef, 'namespace'>,
  backups: readonly BackupEntry[],
): Promise<readonly string[]> {
  const { items } = await kube.list(
    { apiVersion: API_VERSION, kind: 'EtcdRestore' },
    { namespace: watchNamespace },
  );
  // The API server validated them against our own schema, so their shape is known.
  const restores = (items as unknown as readonly EtcdRestore[]).filter(
    ({ status }) => !hasEnded(status ?? {}),
  );
  const isNeeded = ({ location, sha256 }: BackupEntry): boolean =>
    restores.some(
      ({ metadata, status }) =>
        status?.source?.location === location &&
        (metadata.namespace === namespace || (sha256 !== undefined && status.source.sha256 === sha256)),
    );
  return backups.filter(isNeeded).map(({ location }) => location);
}
