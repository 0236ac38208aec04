/** Has activities of backups done, with the options and the one-line summary that people read in the Temporal UI. */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  rootCause,
} from '@temporalio/workflow';
import type { BackupActor, BackupAssessment, BackupDecision, BackupStep } from '../../activities/index.ts';
import { amongTransfers, HEARTBEAT, untilLooked } from '../temporal/looking.ts';
import type { StepOutcome } from '../engine/operation.ts';
import type { ResourceRef } from '../messages/resource.ts';
import { isBackupAssessment } from '../messages/shapes.ts';

const SHORT = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '120s',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumInterval: '20s' },
} as const;
/** Listing and deleting may have much to do. */
const TIDYING = {
  startToCloseTimeout: '30m',
  scheduleToCloseTimeout: '1h',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumInterval: '60s', maximumAttempts: 5 },
} as const;

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
export async function performBackup(ref: ResourceRef, { step, summary }: Operate): Promise<StepOutcome> {
  const activities = proxyActivities<
    Record<BackupStep['kind'], (ref: ResourceRef, step: BackupStep) => Promise<void>>
  >({ ...optionsOf(step), summary });
  try {
    await activities[step.kind](ref, step);
    return { kind: 'done', hasWaited: false };
  } catch (error) {
    const message = rootCause(error) ?? String(error);
    if (isCancellation(error)) return { kind: 'interrupted', message };
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const changed = cause instanceof ApplicationFailure && cause.type === 'PreconditionChanged';
    return { kind: changed ? 'changed' : 'failed', message };
  }
}

function optionsOf(step: BackupStep) {
  switch (step.kind) {
    case 'takeSnapshot':
    case 'verifyBackup': {
      // The activity gives up by itself at its deadline; this is for a worker that does not.
      const limit = `${step.secondsLeft + 20}s` as const;
      return {
        startToCloseTimeout: limit,
        scheduleToCloseTimeout: limit,
        heartbeatTimeout: '10s',
        retry: { initialInterval: '2s', maximumInterval: '60s' },
        ...amongTransfers(),
      } as const;
    }
    case 'pruneBackups':
      return { ...TIDYING, ...amongTransfers() };
    case 'beginBackup':
    case 'releaseBackup':
      return SHORT;
  }
}
