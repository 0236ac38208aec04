/** How long activities of every resource may take, and the pass that each of their workflows makes again and again. */
import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  isCancellation,
  log,
  proxyActivities,
  type RetryPolicy,
  rootCause,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { HEARTBEAT_SECONDS } from '../../api/values/heartbeat.ts';
import type { Activities, StepTiming } from '../../activities/index.ts';
import type { FailureType } from '../../api/failures.ts';
import type { StepOutcome } from '../engine/operation.ts';
import { transfersQueue } from '../messages/resource.ts';

/** What Temporal is told of a step: how long it may take, how it is retried, and in which task queue it is done. */
export function optionsOf({ retry, isTransfer, ...timing }: StepTiming): ActivityOptions {
  return {
    startToCloseTimeout: timing.startToCloseSeconds * 1_000,
    scheduleToCloseTimeout: timing.scheduleToCloseSeconds * 1_000,
    heartbeatTimeout: timing.heartbeatSeconds * 1_000,
    ...(retry && { retry: retryOf(retry) }),
    ...(isTransfer && { taskQueue: transfersQueue(workflowInfo().taskQueue) }),
  };
}

function retryOf({ initialSeconds, maximumSeconds, attempts }: Required<StepTiming>['retry']): RetryPolicy {
  return {
    ...(initialSeconds !== undefined && { initialInterval: initialSeconds * 1_000 }),
    maximumInterval: maximumSeconds * 1_000,
    ...(attempts !== undefined && { maximumAttempts: attempts }),
  };
}

/** What the failure of a step is to whoever plans: a new plan decides what becomes of it. */
export function outcomeOfFailure({ cause, message }: ActivityFailure): StepOutcome {
  const type: FailureType = 'PreconditionChanged';
  const changed = cause instanceof ApplicationFailure && cause.type === type;
  return { kind: changed ? 'changed' : 'failed', message: rootCause(cause) ?? message };
}

const LOOKING = {
  startToCloseTimeout: '40s',
  heartbeatTimeout: HEARTBEAT_SECONDS * 1_000,
  retry: { maximumInterval: '10s' },
} as const;

/**
 * Makes one pass, and tries for ever: a resource that cannot be looked at now is still there. What keeps it from
 * succeeding is shown as the failure of the pending activity. Rejects only when its scope is cancelled.
 * @param summary the line that people read in the Temporal UI
 * @param isAnswer whether it is what a pass answers: people can complete an activity by hand
 */
export async function untilLooked<T>(
  summary: string,
  look: (activities: Activities) => Promise<T>,
  isAnswer: (answer: unknown) => boolean,
): Promise<T> {
  const activities = proxyActivities<Activities>({ ...LOOKING, summary }) as Activities;
  for (;;) {
    try {
      const answer = await look(activities);
      if (isAnswer(answer)) return answer;
      log.error('a pass returned an invalid answer and is repeated');
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      log.error('a pass failed and is repeated', { error: rootCause(error) });
    }
    await sleep(LOOKING.retry.maximumInterval);
  }
}
