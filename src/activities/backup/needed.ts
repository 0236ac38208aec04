import { API_VERSION } from '../../api/names.ts';
import type { BackupEntry, EtcdRestore } from '../../api/schemas/types.ts';
import { isForbidden } from '../../kube/errors.ts';
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
  deps: Pick<Dependencies, 'kube' | 'watchNamespaces'>,
  { namespace }: Pick<BackupRef, 'namespace'>,
  backups: readonly BackupEntry[],
): Promise<readonly string[]> {
  const all = await restoresSeenFrom(namespace, deps);
  const restores = all.filter(({ status }) => !hasEnded(status ?? {}));
  const isNeeded = ({ location, sha256 }: BackupEntry): boolean =>
    restores.some(
      ({ metadata, status }) =>
        status?.source?.location === location &&
        (metadata.namespace === namespace || (sha256 !== undefined && status.source.sha256 === sha256)),
    );
  return backups.filter(isNeeded).map(({ location }) => location);
}

/**
 * The EtcdRestores of all namespaces that this operator looks after. Where it has no rights it carries out no restore either; in the
 * namespace of the EtcdBackup it must have them, and is asked for that first.
 */
async function restoresSeenFrom(
  own: string,
  { kube, watchNamespaces }: Pick<Dependencies, 'kube' | 'watchNamespaces'>,
): Promise<readonly EtcdRestore[]> {
  const kind = { apiVersion: API_VERSION, kind: 'EtcdRestore' };
  const others = watchNamespaces?.filter(name => name !== own) ?? [];
  const listOf = async (namespace: string | undefined) => (await kube.list(kind, { namespace })).items;
  const found = [...(await listOf(watchNamespaces === undefined ? undefined : own))];
  const elsewhere = async (namespace: string) => {
    try {
      return await listOf(namespace);
    } catch (error) {
      if (isForbidden(error)) return [];
      throw error;
    }
  };
  for (const namespace of others) found.push(...(await elsewhere(namespace)));
  // The API server validated them against our own schema, so their shape is known.
  return found as unknown as readonly EtcdRestore[];
}
