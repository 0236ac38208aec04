/** Reading and writing an EtcdBackup, always guarded by its uid and resource version. */
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import { API_VERSION, FINALIZER } from '../../api/names.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { EtcdBackup, EtcdBackupStatus } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { BackupFacts, BackupObservation } from '../../planner/backup/observation.ts';
import { backupTransitions } from '../../planner/backup/report.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { endedRun } from '../runtime/backup-figures.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { readResource, reportStatus, retryOnConflict } from './custom-resource.ts';
import { withoutWatchers } from './status-writing.ts';

/** Which EtcdBackup; the uid distinguishes it from a later one of the same name. */
export type BackupRef = ClusterRef;

const KIND = { apiVersion: API_VERSION, kind: 'EtcdBackup' } as const;

/** The EtcdBackup of this uid; undefined when it is gone. */
export async function readBackup(kube: KubeClient, ref: BackupRef): Promise<EtcdBackup | undefined> {
  const object = await readResource(kube, 'EtcdBackup', ref);
  return object && asBackup(object);
}

/** As {@link readBackup}; fails with PreconditionChanged when it is gone or being deleted. */
export async function readPresent(kube: KubeClient, ref: BackupRef): Promise<EtcdBackup> {
  const backup = await readBackup(kube, ref);
  if (backup !== undefined && backup.metadata.deletionTimestamp === undefined) return backup;
  throw preconditionChanged(`EtcdBackup ${ref.namespace}/${ref.name} is gone or being deleted`);
}

/** As {@link readBackup}; fails with PreconditionChanged when it is gone, or the run that began then is not its run. */
export async function readRunning(kube: KubeClient, ref: BackupRef, startedAt: string): Promise<EtcdBackup> {
  const backup = await readBackup(kube, ref);
  const where = `EtcdBackup ${ref.namespace}/${ref.name}`;
  if (backup === undefined) throw preconditionChanged(`${where} is gone`);
  if (backup.metadata.deletionTimestamp !== undefined) throw preconditionChanged(`${where} is being deleted`);
  if (backup.status?.progress?.startedAt !== startedAt) {
    throw preconditionChanged(`${where} records a run other than that of ${startedAt}`);
  }
  return backup;
}

/** The custom resource as the planner sees it. */
export function backupFacts(backup: EtcdBackup): BackupFacts {
  const { metadata, spec, status = {} } = backup;
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    hasFinalizer: metadata.finalizers?.includes(FINALIZER) ?? false,
    createdAt: parseTimestamp(metadata.creationTimestamp ?? undefined) ?? 0,
    object: backup,
    config: backupWithDefaults(spec),
    status: withoutWatchers(status),
  };
}

/** What is known of it between two passes. */
export function observed(
  { now, backupJitterSeconds = 0 }: Pick<Dependencies, 'now' | 'backupJitterSeconds'>,
  backup: EtcdBackup,
): BackupObservation {
  return { now: now(), backup: backupFacts(backup), jitterSeconds: backupJitterSeconds };
}

/**
 * Replaces the status that the operator owns when it changed, and reports to users what is new. Fails with a Conflict when
 * the resource changed since it was read.
 */
export async function reportBackup(
  deps: Dependencies,
  backup: EtcdBackup,
  status: EtcdBackupStatus,
): Promise<void> {
  const change = await reportStatus(deps, backup, {
    status,
    events: ({ before, after }) => backupTransitions(before, after),
  });
  const ended = change && endedRun(change.before, change.after);
  if (ended !== undefined) deps.onBackup(ended);
}

/**
 * Changes the status of a run, read again when the resource changed meanwhile. Fails with PreconditionChanged when
 * the run is not the recorded one any more.
 */
export async function recordRun(
  deps: Dependencies,
  run: { readonly ref: BackupRef; readonly startedAt: string },
  change: (status: EtcdBackupStatus, backup: EtcdBackup) => EtcdBackupStatus,
): Promise<void> {
  await retryOnConflict(async () => {
    const backup = await readRunning(deps.kube, run.ref, run.startedAt);
    await reportBackup(deps, backup, change(withoutWatchers(backup.status ?? {}), backup));
  });
}

/** Puts our finalizer on or takes it off. Fails with a Conflict when the resource changed since it was read. */
export async function setFinalizer(
  kube: KubeClient,
  backup: EtcdBackup,
  wanted: boolean,
): Promise<EtcdBackup> {
  const { name, namespace, uid, resourceVersion, finalizers: present = [] } = backup.metadata;
  if (present.includes(FINALIZER) === wanted) return backup;
  const finalizers = wanted ? [...present, FINALIZER] : present.filter(entry => entry !== FINALIZER);
  const patch = { metadata: { uid, resourceVersion, finalizers } };
  return asBackup(await kube.patch({ ...KIND, namespace, name }, patch, { type: 'merge' }));
}

/** The API server validated it against our own schema, so its shape is known. */
function asBackup(object: KubeObject): EtcdBackup {
  return object as unknown as EtcdBackup;
}
