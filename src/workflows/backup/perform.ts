/** Has activities of backups done, with the options and the one-line summary that people read in the Temporal UI. */
import { ActivityFailure, isCancellation, proxyActivities, rootCause } from '@temporalio/workflow';
import type { BackupActor, BackupAssessment, BackupDecision, BackupStep } from '../../activities/index.ts';
import { optionsOf, outcomeOfFailure, untilLooked } from '../temporal/looking.ts';
import type { StepOutcome } from '../engine/operation.ts';
import type { ResourceRef } from '../messages/resource.ts';
import { isBackupAssessment } from '../messages/shapes.ts';

/** One pass. */
export function assessBackup(
  ref: ResourceRef,
  actor: BackupActor,
  workflowId: string,
): Promise<BackupAssessment> {
  const summary = `look at ${ref.namespace}/${ref.name}`;
  return untilLooked(
    summary,
    activities => activities.assessBackup(ref, { actor, workflowId }),
    isBackupAssessment,
  );
}

type Operate = Extract<BackupDecision, { kind: 'operate' }>;

/** Performs one step; when its scope is cancelled, the step is ended and awaited. Its failures are outcomes. */
export async function performBackup(
  ref: ResourceRef,
  { step, timing, summary }: Operate,
): Promise<StepOutcome> {
  const activities = proxyActivities<
    Record<BackupStep['kind'], (ref: ResourceRef, step: BackupStep) => Promise<void>>
  >({ ...optionsOf(timing), summary });
  try {
    await activities[step.kind](ref, step);
    return { kind: 'done', hasWaited: false };
  } catch (error) {
    if (isCancellation(error)) return { kind: 'interrupted', message: rootCause(error) ?? String(error) };
    if (!(error instanceof ActivityFailure)) throw error;
    return outcomeOfFailure(error);
  }
}
