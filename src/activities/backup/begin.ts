/** The first and the last step of a run: it is recorded before it does anything, and releases the resource after it. */
import { preconditionChanged } from '../runtime/failures.ts';
import type { BackupStepOf } from '../../planner/backup/steps.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { acceptRequests } from '../resource/etcd-requests.ts';
import { endLeftPod } from './serving-pod.ts';
import {
  type BackupRef,
  backupFacts,
  readBackup,
  reportBackup,
  setFinalizer,
} from '../resource/etcd-backup.ts';

/** Records the run, so that the attempt after a crash makes the same one. Done twice it finds itself done. */
export async function beginBackup(
  deps: Dependencies,
  ref: BackupRef,
  step: BackupStepOf<'beginBackup'>,
): Promise<void> {
  const found = await readBackup(deps.kube, ref);
  const where = `EtcdBackup ${ref.namespace}/${ref.name}`;
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    throw preconditionChanged(`${where} is gone or being deleted`);
  }
  const { startedAt, scheduledFor, requestedBy, requests: uids = [] } = step;
  const running = found.status?.progress?.startedAt;
  if (running !== undefined && running !== startedAt) {
    throw preconditionChanged(`${where} records the run of ${running}`);
  }
  const outcome = { state: 'accepted', message: 'the backup has begun', ids: [startedAt] } as const;
  if (uids.length > 0 && !(await acceptRequests(deps, { kind: 'EtcdBackup', ...ref }, { uids, outcome })))
    throw preconditionChanged(`the requests for the backup of ${startedAt} have ended`);
  const backup = await setFinalizer(deps.kube, found, true);
  const { status } = backupFacts(backup);
  await reportBackup(deps, backup, {
    ...status,
    phase: 'Running',
    ...(scheduledFor !== undefined && { schedule: { ...status.schedule, lastTime: scheduledFor } }),
    progress: {
      startedAt,
      ...(scheduledFor !== undefined && { scheduledFor }),
      ...(requestedBy !== undefined && { requestedBy }),
    },
  });
}

/** Takes our finalizer off: no run is under way that would have to be stopped. A pod that one has left is ended before. */
export async function releaseBackup(deps: Dependencies, ref: BackupRef): Promise<void> {
  const backup = await readBackup(deps.kube, ref);
  if (backup === undefined) return;
  if (backup.spec.storageType === 'File') await endLeftPod(deps.kube, { kind: 'EtcdBackup', ...ref });
  await endLeftPod(deps.kube, { kind: 'EtcdBackup', ...ref, role: 'verify' });
  await setFinalizer(deps.kube, backup, false);
}
