/** The activities of every resource: passes, and steps, each with its options and the line that users read in the Temporal UI. */
import type { ResourceId, ResourceRef } from '../../api/names.ts';
import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  isCancellation,
  log,
  proxyActivities,
  type RetryPolicy,
  rootCause,
  workflowInfo,
} from '@temporalio/workflow';
import { HEARTBEAT_SECONDS } from '../../api/values/heartbeat.ts';
import type { Activities, RecordedRequests, StepTiming } from '../../activities/index.ts';
import type { FailureType } from '../../api/failures.ts';
import type { FailedPass, PassFailure } from '../passes.ts';
import { doneWith, type StepOutcome } from '../operation.ts';
import { shareOf } from '../../api/values/priority.ts';
import { transfersQueue } from '../messages/resource.ts';
import { isRecordedRequests } from '../messages/shapes.ts';
import { messageOfFailure } from './step-failure.ts';

/** The options of a step: how long it may take, how it is retried, and in which task queue it is done. */
function optionsOf({ retry, isTransfer, ...timing }: StepTiming): ActivityOptions {
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

interface StepToPerform {
  readonly step: { readonly kind: string };
  readonly timing: StepTiming;
  /** When it is not that of the workflow. */
  readonly priority?: { readonly priorityKey: number };
}

/**
 * Performs one step; when its scope is cancelled, the step is ended and awaited. Its failures are outcomes: a new plan decides what
 * becomes of them.
 */
export async function perform(
  ref: ResourceId,
  { step, timing, ...more }: StepToPerform,
  summary: string,
): Promise<StepOutcome> {
  const priority = { ...shareOf(ref.namespace), ...more.priority };
  const activity = activityOf(step.kind, { ...optionsOf(timing), priority, summary });
  try {
    return doneWith(await activity(ref, step));
  } catch (error) {
    if (isCancellation(error)) return { kind: 'interrupted', message: rootCause(error) ?? String(error) };
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const type: FailureType = 'PreconditionChanged';
    const changed = cause instanceof ApplicationFailure && cause.type === type;
    return {
      kind: changed ? 'changed' : 'failed',
      message: messageOfFailure(error, timing.scheduleToCloseSeconds),
    };
  }
}

/** What is recorded names the activity: the planner's steps, and the passes below. */
function activityOf(name: string, options: ActivityOptions) {
  const activities =
    proxyActivities<Record<string, (ref: ResourceId, of: unknown) => Promise<unknown>>>(options);
  return activities[name] as (typeof activities)[string];
}

const PASS_SECONDS = 40;
/** After 0, 1, 3, 7, 15, 31, 51 and 71 seconds, where each fails at once. */
const LOOKING = {
  startToCloseTimeout: PASS_SECONDS * 1_000,
  heartbeatTimeout: HEARTBEAT_SECONDS * 1_000,
  retry: { maximumInterval: '20s', maximumAttempts: 8 },
} as const;

type Pass = 'assess' | 'assessBackup' | 'assessRestore';
type WorkflowStateOf<P extends Pass> = Parameters<Activities[P]>[1]['workflowState'];

/**
 * Makes one pass. What keeps it from succeeding is shown as the failure of the pending activity while it is tried again. Rejects only when its
 * scope is cancelled.
 * @param isAnswer whether it is what a pass answers: users can complete an activity by hand
 */
export async function assess<P extends Pass>(
  pass: P,
  about: { readonly ref: ResourceId; readonly entity: string; readonly workflowState: WorkflowStateOf<P> },
  isAnswer: (answer: unknown) => answer is Awaited<ReturnType<Activities[P]>>,
): Promise<Awaited<ReturnType<Activities[P]>> | FailedPass> {
  const { ref, entity: workflowId, workflowState } = about;
  const priority = shareOf(ref.namespace);
  const summary = `reconcile ${ref.namespace}/${ref.name}`;
  try {
    const answer = await activityOf(pass, { ...LOOKING, priority, summary })(ref, {
      workflowState,
      workflowId,
    });
    return isAnswer(answer) ? answer : { failedPass: 'it returned an invalid answer' };
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return { failedPass: messageOfFailure(error, PASS_SECONDS) };
  }
}

const REPORTING = {
  startToCloseTimeout: '10s',
  heartbeatTimeout: HEARTBEAT_SECONDS * 1_000,
  retry: { maximumAttempts: 3 },
} as const;

/** Has a resource say that its passes fail. Where it cannot say so itself, `EtcdAttention` of the workflow does, and by that the metric. */
export async function reportFailing({ kind, ...ref }: ResourceRef, failure: PassFailure): Promise<void> {
  log.error('a pass failed and is repeated', { error: failure.message });
  const name: keyof Activities = 'reportPassFailure';
  const summary = `report that passes of ${ref.namespace}/${ref.name} fail`;
  const report = activityOf(name, { ...REPORTING, priority: shareOf(ref.namespace), summary });
  try {
    await report(ref, { kind, ...failure });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    log.warn('that passes fail could not be reported', { error: rootCause(error) });
  }
}

/** Judges EtcdRequests of a cluster during a step, and mirrors what users asked for in its status. Undefined: that failed. */
export async function recordRequests(
  ref: ResourceId,
  context: Parameters<Activities['recordRequests']>[1],
): Promise<RecordedRequests | undefined> {
  const name: keyof Activities = 'recordRequests';
  const summary = `record what users asked of ${ref.namespace}/${ref.name}`;
  const record = activityOf(name, { ...REPORTING, priority: shareOf(ref.namespace), summary });
  try {
    const answer = await record(ref, context);
    return isRecordedRequests(answer) ? answer : undefined;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    log.warn('what users asked for could not be recorded', { error: rootCause(error) });
    return undefined;
  }
}
