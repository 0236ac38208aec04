/** The activities of EtcdRestores: what is done to the cluster are steps of the cluster. */
import type { RestoreStep, RestoreStepOf } from '../../planner/restore/steps.ts';
import { askForBackup, awaitAnswer } from '../resource/asked-backup.ts';
import { backupFailure } from '../backup/failure.ts';
import type { RestoreRef } from '../resource/etcd-restore.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { passFailure, stepFailure } from '../runtime/failures.ts';
import { withHeartbeat } from '../runtime/heartbeat.ts';
import { assessRestore } from './assess.ts';
import { createRestored, examineBackup, examineIncarnation, examineSurvivor } from './begin.ts';

/** One activity a step kind, plus `assessRestore`. Each observes, acts once and observes again, and can run twice. */
export function restoreActivities(deps: Dependencies) {
  return {
    assessRestore: withHeartbeat(
      (ref: RestoreRef, context: Parameters<typeof assessRestore>[2]) => assessRestore(deps, ref, context),
      passFailure,
    ),
    ...stepActivities(deps),
  };
}

function stepActivities(deps: Dependencies) {
  return {
    examineBackup: withHeartbeat(
      (ref: RestoreRef, step: RestoreStepOf<'examineBackup'>) => examineBackup(deps, ref, step),
      backupFailure,
    ),
    examineSurvivor: withHeartbeat(
      (ref: RestoreRef, step: RestoreStepOf<'examineSurvivor'>) => examineSurvivor(deps, ref, step),
      stepFailure,
    ),
    examineIncarnation: withHeartbeat(
      (ref: RestoreRef, step: RestoreStepOf<'examineIncarnation'>) => examineIncarnation(deps, ref, step),
      stepFailure,
    ),
    requestSaving: withHeartbeat(async (ref: RestoreRef, step: RestoreStepOf<'requestSaving'>) => {
      await askForBackup(deps, ref.namespace, step);
    }, stepFailure),
    awaitSaving: withHeartbeat(
      (ref: RestoreRef, step: RestoreStepOf<'awaitSaving'>) => awaitAnswer(deps, ref.namespace, step),
      stepFailure,
    ),
    createRestored: withHeartbeat((ref: RestoreRef) => createRestored(deps, ref), stepFailure),
  } satisfies Record<RestoreStep['kind'], unknown>;
}
