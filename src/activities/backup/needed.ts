import { API_VERSION } from '../../api/names.ts';
import type { BackupEntry, EtcdRestore } from '../../api/schemas/types.ts';
import { isForbidden } from '../../kube/errors.ts';
import { hasEnded } from '../../planner/model/restore-of-cluster.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { BackupRef } from '../resource/etcd-backup.ts';
import { BackupFailure } from './failure.ts';

type Asking = Pick<Dependencies, 'kube' | 'watchNamespaces' | 'refusedNamespaces'>;
type Owner = Pick<BackupRef, 'namespace'>;

/** A pass has 40 s, and asks for more than this. */
const IN_PASS = { timeoutMs: 10_000 };

/**
 * Which of these backups EtcdRestores have begun with and may still have to read, and which were made before them (spec.saveFirst). The first go
 * when those have ended, the others when those are gone. All namespaces that
 * this operator looks after are asked, so callers ask only when something is to be deleted. In the EtcdBackup's own
 * namespace the location is enough. Elsewhere it may be one of a store of somebody's own: there the restore has to have read the
 * very content, by its SHA-256.
 * @throws when a namespace does not answer, or refuses and has not done so for long: nothing may be deleted then
 */
export async function neededByRestores(
  deps: Asking,
  { namespace }: Owner,
  backups: readonly BackupEntry[],
): Promise<readonly string[]> {
  const { restores, failures } = await restoresSeenFrom(namespace, deps, {});
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  return neededBy(restores, { namespace, backups });
}

/**
 * The same for a pass, which must not wait for the namespaces of others: while one of them does not say, all backups are needed. What
 * deletes asks again.
 * @throws when the EtcdBackup's own namespace does not answer
 */
export async function neededAsFarAsKnown(
  deps: Asking,
  { namespace }: Owner,
  backups: readonly BackupEntry[],
): Promise<readonly string[]> {
  const { restores, failures } = await restoresSeenFrom(namespace, deps, IN_PASS);
  if (failures.length > 0) return backups.map(({ location }) => location);
  return neededBy(restores, { namespace, backups });
}

function neededBy(
  all: readonly EtcdRestore[],
  { namespace, backups }: { readonly namespace: string; readonly backups: readonly BackupEntry[] },
): readonly string[] {
  const isNeeded = ({ location, sha256, secondStore }: BackupEntry): boolean =>
    all.some(({ metadata, status = {} }) => {
      // What was saved before a restore is kept with its EtcdRestore.
      const { source, saved } = status;
      const places = [location, secondStore?.location];
      const held = [saved, hasEnded(status) ? undefined : source].find(
        each => each !== undefined && places.includes(each.location),
      );
      const isOwn = metadata.namespace === namespace;
      return held !== undefined && (isOwn || (sha256 !== undefined && held.sha256 === sha256));
    });
  return backups.filter(isNeeded).map(({ location }) => location);
}

interface Seen {
  readonly restores: readonly EtcdRestore[];
  /** Why namespaces other than the own one do not say what they have. */
  readonly failures: readonly Error[];
}

/**
 * The EtcdRestores of all namespaces that this operator looks after. Where it has had no rights for long it carries out no restore
 * either; in the namespace of the EtcdBackup it must have them, and is asked for that first.
 */
async function restoresSeenFrom(
  own: string,
  { kube, watchNamespaces, refusedNamespaces }: Asking,
  call: { readonly timeoutMs?: number },
): Promise<Seen> {
  const kind = { apiVersion: API_VERSION, kind: 'EtcdRestore' };
  const listOf = async (namespace: string | undefined): Promise<readonly EtcdRestore[]> => {
    const { items } = await kube.list(kind, { ...call, namespace });
    // The API server validated them against our own schema, so their shape is known.
    return items as unknown as readonly EtcdRestore[];
  };
  const elsewhere = async (namespace: string): Promise<Seen> => {
    try {
      const restores = await listOf(namespace);
      refusedNamespaces?.answered(namespace);
      return { restores, failures: [] };
    } catch (error) {
      if (!isForbidden(error))
        return { restores: [], failures: [error instanceof Error ? error : new Error(String(error))] };
      const isClosed = refusedNamespaces?.refused(namespace) ?? false;
      return { restores: [], failures: isClosed ? [] : [refusalOf(namespace)] };
    }
  };
  const restores = await listOf(watchNamespaces === undefined ? undefined : own);
  if (watchNamespaces !== undefined) refusedNamespaces?.answered(own);
  // Side by side: one that is slow must not use up the time of all.
  const others = await Promise.all((watchNamespaces ?? []).filter(name => name !== own).map(elsewhere));
  return {
    restores: [...restores, ...others.flatMap(seen => seen.restores)],
    failures: others.flatMap(seen => seen.failures),
  };
}

function refusalOf(namespace: string): BackupFailure {
  return new BackupFailure(
    'later',
    `the operator may not list EtcdRestores in namespace ${namespace} of WATCH_NAMESPACE, so a restore there may need a backup, ` +
      `and none is deleted. If the namespace exists, create the Role and the RoleBinding of the operator in it. If the refusals ` +
      `go on, the namespace is passed over after ten minutes or more`,
  );
}
