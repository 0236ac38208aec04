/** Reading and writing an EtcdRestore, always guarded by its uid and resource version. */
import { API_VERSION, RESTORE_CLUSTER_FIELD } from '../../api/names.ts';
import type { EtcdBackup, EtcdRestore, EtcdRestoreStatus } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { failedRestore, restoreTransitions } from '../../planner/restore/report.ts';
import { hasEnded, restoreOfCluster } from '../../planner/model/restore-of-cluster.ts';
import type { ClusterFacts, Observation } from '../../planner/model/observation.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { readResource, reportStatus, retryOnConflict } from './custom-resource.ts';
import { listSelected } from './selected.ts';
import { withoutWatchers } from './status-writing.ts';

/** Which EtcdRestore; the uid distinguishes it from a later one of the same name. */
export type RestoreRef = ClusterRef;

/** The EtcdRestore of this uid; undefined when it is gone. */
export async function readRestore(kube: KubeClient, ref: RestoreRef): Promise<EtcdRestore | undefined> {
  const object = await readResource(kube, 'EtcdRestore', ref);
  return object && asRestore(object);
}

/** The EtcdBackup that the restore names, where there is one. */
export async function readBackupOf(kube: KubeClient, restore: EtcdRestore): Promise<EtcdBackup | undefined> {
  const { namespace } = restore.metadata;
  const name = restore.spec.backupRef?.name;
  if (name === undefined) return undefined;
  const object = await kube.get({ apiVersion: API_VERSION, kind: 'EtcdBackup', namespace, name });
  return object as unknown as EtcdBackup | undefined;
}

/** The restores of a cluster: those that have not ended, and the names of those that have. */
export async function restoresOfCluster(
  kube: KubeClient,
  { namespace, name, deleting }: Pick<ClusterFacts, 'namespace' | 'name' | 'deleting'>,
): Promise<Pick<Observation, 'restores' | 'restoresEnded'>> {
  if (deleting) return {};
  const selection = { namespace, field: RESTORE_CLUSTER_FIELD, values: [name] };
  const items = await listSelected(kube, 'EtcdRestore', selection);
  const all = items.map(asRestore).filter(({ spec }) => spec.etcdCluster.name === name);
  const restores = all.flatMap(restore => restoreOfCluster(restore, name) ?? []);
  const ended = all.filter(({ status = {} }) => hasEnded(status)).map(({ metadata }) => metadata.name);
  return {
    ...(restores.length > 0 && { restores }),
    ...(ended.length > 0 && { restoresEnded: ended }),
  };
}

/** Replaces the status when it changed, and reports to users how it ended. Fails with a Conflict when the resource changed since it was read. */
export async function reportRestore(
  deps: Dependencies,
  restore: EtcdRestore,
  status: EtcdRestoreStatus,
): Promise<void> {
  await reportStatus(deps, restore, {
    status,
    events: ({ before, after }) => restoreTransitions(before, after, restore.spec.etcdCluster.name),
  });
}

/** Changes the status, read again when the resource changed meanwhile; does nothing when the resource is gone. */
export async function recordRestore(
  deps: Dependencies,
  ref: RestoreRef,
  change: (restore: EtcdRestore) => EtcdRestoreStatus,
): Promise<void> {
  await retryOnConflict(async () => {
    const restore = await readRestore(deps.kube, ref);
    if (restore === undefined) return;
    const status = withoutWatchers(restore.status ?? {});
    await reportRestore(deps, restore, change({ ...restore, status }));
  });
}

/**
 * Nothing is tried for this restore any more. One that has ended stays as it ended.
 * @param generation of the specification that has failed, where another one need not
 */
export async function recordFailure(
  deps: Dependencies,
  ref: RestoreRef,
  { message, generation }: { readonly message: string; readonly generation?: number },
): Promise<void> {
  await recordRestore(deps, ref, restore => {
    const { metadata, status = {} } = restore;
    const isCorrected = generation !== undefined && generation !== metadata.generation;
    return hasEnded(status) || isCorrected ? status : failedRestore(restore, message, deps.now());
  });
}

/** The API server validated it against our own schema, so its shape is known. */
function asRestore(object: KubeObject): EtcdRestore {
  return object as unknown as EtcdRestore;
}
