/** What all of an attempt to bring the second store up to date is about, and how it is recorded. */
import type { EtcdBackup, EtcdBackupStatus, BackupEntry } from '../../api/schemas/types.ts';
import { withCopies } from '../../planner/backup/second-store.ts';
import type { CallOptions } from '../../store/port.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { backupFacts, type BackupRef, readPresent, reportBackup } from '../resource/etcd-backup.ts';
import { withoutWatchers } from '../resource/status-writing.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import type { BackupFolder } from './catalogue.ts';

/** An attempt under way. */
export interface Copying {
  readonly deps: Dependencies;
  readonly ref: BackupRef;
  /** As it was read when the attempt began. */
  readonly backup: EtcdBackup;
  /** The second store. */
  readonly to: BackupFolder;
  readonly options: CallOptions;
  readonly heartbeatDetails: HeartbeatDetails;
  /** The backup that is being copied. */
  current: BackupEntry | undefined;
}

/** Changes the status, and says again where each backup is and how far the copies are behind. */
export async function recordStatus(
  deps: Dependencies,
  ref: BackupRef,
  change: (
    status: EtcdBackupStatus,
    of: { readonly backup: EtcdBackup; readonly now: number; readonly generation: number },
  ) => EtcdBackupStatus,
): Promise<void> {
  await retryOnConflict(async () => {
    const backup = await readPresent(deps.kube, ref);
    const now = deps.now();
    const generation = backup.metadata.generation ?? 0;
    const status = change(withoutWatchers(backup.status ?? {}), { backup, now, generation });
    await reportBackup(deps, backup, withCopies({ now, backup: { ...backupFacts(backup), status } }, status));
  });
}
