/** Has activities of backups done, with the options and the one-line summary that people read in the Temporal UI. */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  log,
  proxyActivities,
  rootCause,
  sleep,
} from '@temporalio/workflow';
import type {
  Activities,
  BackupActor,
  BackupAssessment,
  BackupDecision,
  BackupStep,
} from '../activities/index.ts';
import type { ResourceRef } from './messages.ts';

/** Activities heartbeat every second: after this long without one their worker is taken for dead. */
const HEARTBEAT = '5s';
const LOOKING = {
  startToCloseTimeout: '20s',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumInterval: '10s' },
} as const;
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

/** One pass. Tries for ever, as an EtcdCluster's does. */
export async function assessBackup(
  ref: ResourceRef,
  actor: BackupActor,
  workflowId: string,
): Promise<BackupAssessment> {
  const summary = `look at ${ref.namespace}/${ref.name}`;
  const activities = proxyActivities<Activities>({ ...LOOKING, summary });
  for (;;) {
    try {
      return await activities.assessBackup(ref, { actor, workflowId });
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      log.error('a pass failed for good and is made again', { error: rootCause(error) });
      await sleep(LOOKING.retry.maximumInterval);
    }
  }
}

export type BackupStepOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'changed' | 'failed' | 'stopped'; readonly message: string };

type Operate = Extract<BackupDecision, { kind: 'operate' }>;

/** Performs one step; when its scope is cancelled, the step is ended and awaited. Its failures are outcomes. */
export async function performBackup(
  ref: ResourceRef,
  { step, summary }: Operate,
): Promise<BackupStepOutcome> {
  const activities = proxyActivities<
    Record<BackupStep['kind'], (ref: ResourceRef, step: BackupStep) => Promise<void>>
  >({ ...optionsOf(step), summary });
  try {
    await activities[step.kind](ref, step);
    return { kind: 'done' };
  } catch (error) {
    const message = rootCause(error) ?? String(error);
    if (isCancellation(error)) return { kind: 'stopped', message };
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const changed = cause instanceof ApplicationFailure && cause.type === 'PreconditionChanged';
    return { kind: changed ? 'changed' : 'failed', message };
  }
}

function optionsOf(step: BackupStep) {
  switch (step.kind) {
    case 'takeSnapshot': {
      // The activity gives up by itself at its deadline; this is for a worker that does not.
      const limit = `${step.secondsLeft + 20}s` as const;
      return {
        startToCloseTimeout: limit,
        scheduleToCloseTimeout: limit,
        heartbeatTimeout: '10s',
        retry: { initialInterval: '2s', maximumInterval: '60s' },
      } as const;
    }
    case 'pruneBackups':
      return TIDYING;
    case 'beginBackup':
    case 'releaseBackup':
      return SHORT;
  }
}
