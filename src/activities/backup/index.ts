/** The activities of EtcdBackups. */
import type { BackupStep, BackupStepOf } from '../../planner/backup/steps.ts';
import { withHeartbeat, withProgressHeartbeat } from '../runtime/heartbeat.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { passFailure } from '../runtime/failures.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { assessBackup } from './assess.ts';
import { beginBackup, releaseBackup } from './begin.ts';
import { copyBackups } from './copy-backups.ts';
import { backupFailure } from './failure.ts';
import { pruneBackups } from './prune.ts';
import { takeSnapshot } from './take-snapshot.ts';
import { verifyBackup } from './verify-backup.ts';
import { verifyStoredBackup } from './verify-stored.ts';

/** One activity a step kind, plus `assessBackup`. Each observes, acts once and observes again, and can run twice. */
export function backupActivities(deps: Dependencies) {
  return {
    assessBackup: withHeartbeat(
      (ref: ClusterRef, context: Parameters<typeof assessBackup>[2]) => assessBackup(deps, ref, context),
      passFailure,
    ),
    ...stepActivities(deps),
  };
}

function stepActivities(deps: Dependencies) {
  return {
    beginBackup: withHeartbeat(
      (ref: ClusterRef, of: BackupStepOf<'beginBackup'>) => beginBackup(deps, ref, of),
      backupFailure,
    ),
    takeSnapshot: withProgressHeartbeat(
      (heartbeatDetails, ref: ClusterRef, of: BackupStepOf<'takeSnapshot'>) =>
        takeSnapshot(deps, heartbeatDetails, { ref, step: of }),
      backupFailure,
    ),
    verifyBackup: withProgressHeartbeat(
      (heartbeatDetails, ref: ClusterRef, of: BackupStepOf<'verifyBackup'>) =>
        verifyBackup(deps, heartbeatDetails, { ref, step: of }),
      backupFailure,
    ),
    verifyStoredBackup: withProgressHeartbeat(
      (heartbeatDetails, ref: ClusterRef, of: BackupStepOf<'verifyStoredBackup'>) =>
        verifyStoredBackup(deps, heartbeatDetails, { ref, step: of }),
      backupFailure,
    ),
    copyBackups: withProgressHeartbeat(
      (heartbeatDetails, ref: ClusterRef) => copyBackups(deps, heartbeatDetails, { ref }),
      backupFailure,
    ),
    pruneBackups: withHeartbeat((ref: ClusterRef) => pruneBackups(deps, ref), backupFailure),
    releaseBackup: withHeartbeat((ref: ClusterRef) => releaseBackup(deps, ref), backupFailure),
  } satisfies Record<BackupStep['kind'], unknown>;
}
