/** A backup before an upgrade: an EtcdBackup of the cluster is asked for it, and makes it as its own run. */
import { ANNOTATION_BACKUP_ASKED, API_VERSION } from '../../api/names.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { EtcdBackup } from '../../api/schemas/types.ts';
import type { KindRef } from '../../kube/port.ts';
import { hasAnswered } from '../../planner/operations/upgrade/backup.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Perform } from './shared/perform.ts';

const BACKUP: KindRef = { apiVersion: API_VERSION, kind: 'EtcdBackup' };

/** Writes the question on this very EtcdBackup (by uid), which wakes its workflow. Asked twice it is asked once. */
export const requestBackup: Perform<'requestBackup'> = async (deps, ref, step) => {
  await readLivingCluster(deps.kube, ref);
  const { backup, metadata } = await readBackup(deps, ref, step);
  const before = parseTimestamp(metadata.annotations?.[ANNOTATION_BACKUP_ASKED]) ?? 0;
  if (before >= (parseTimestamp(step.asked) ?? 0)) return;
  const { uid } = step;
  const annotations = { [ANNOTATION_BACKUP_ASKED]: step.asked };
  await deps.kube.patch(backup, { metadata: { uid, annotations } }, { type: 'merge' });
  const message = `requested a backup from EtcdBackup ${step.backup} before ${step.because}`;
  recordClusterEvent(deps, ref, { reason: 'BackupRequested', message });
};

/** Waits until the question is answered; what the answer is worth is planned from. */
export const awaitBackup: Perform<'awaitBackup', WaitOutcome> = async (deps, ref, step) => {
  return waitUntil(deps, async () => {
    const { status } = await readBackup(deps, ref, step);
    return hasAnswered({ asked: step.asked, lastRun: status?.lastRun }, deps.now()) ? 'done' : 'notYet';
  });
};

async function readBackup(
  deps: Dependencies,
  { namespace }: ClusterRef,
  { backup: name, uid }: { readonly backup: string; readonly uid: string },
) {
  const at = { ...BACKUP, namespace, name };
  const found = await deps.kube.get(at);
  if (found?.metadata.uid !== uid) throw preconditionChanged(`EtcdBackup ${name} has been replaced`);
  // The API server validated it against our own schema, so its shape is known.
  const { status } = found as unknown as EtcdBackup;
  return { backup: at, metadata: found.metadata, status };
}
