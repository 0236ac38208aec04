/** Has activities done, each with the options and the one-line summary that people read in the Temporal UI. */
import {
  ActivityFailure,
  ApplicationFailure,
  log,
  proxyActivities,
  rootCause,
  sleep,
} from '@temporalio/workflow';
import type { Activities, Actor, Assessment, PlannedStep, Step } from '../activities/index.ts';
import type { ResourceRef } from './messages.ts';

/** Activities heartbeat every second: after this long without one their worker is taken for dead. */
const HEARTBEAT = '5s';
const ASSESSING = {
  startToCloseTimeout: '20s',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumInterval: '10s' },
} as const;
/** A step that keeps failing gives control back within half a minute, so that people are told. */
const ACTING = {
  startToCloseTimeout: '10s',
  scheduleToCloseTimeout: '30s',
  heartbeatTimeout: HEARTBEAT,
} as const;
/** A step that waits looks for ten seconds and then lets the planner look. */
const WAITING = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '60s',
  heartbeatTimeout: HEARTBEAT,
} as const;

/** As long as the data takes; a worker that dies is noticed by its heartbeats. */
const MOVING_DATA = {
  startToCloseTimeout: '6h',
  scheduleToCloseTimeout: '12h',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumInterval: '60s', maximumAttempts: 5 },
} as const;

const MOVES_DATA: readonly Step['kind'][] = ['fillVolume'];
const WAITS: readonly Step['kind'][] = [
  'awaitQuorum',
  'awaitMembers',
  'sealMembers',
  'awaitQuiet',
  'awaitVersion',
  'awaitAgreement',
  'addLearner',
  'promoteLearner',
  'stopMember',
  'deletePods',
  'fenceMembers',
  'unpackBackup',
];

/**
 * One pass: observe, plan, report. Tries for ever: a resource that cannot be looked at now is still there. What keeps
 * it from succeeding is shown as the failure of the pending activity.
 */
export async function assess(ref: ResourceRef, actor: Actor, workflowId: string): Promise<Assessment> {
  const summary = `look at ${ref.namespace}/${ref.name} and plan`;
  const activities = proxyActivities<Activities>({ ...ASSESSING, summary });
  for (;;) {
    try {
      return await activities.assess(ref, { actor, workflowId });
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      log.error('a pass failed for good and is made again', { error: rootCause(error) });
      await sleep(ASSESSING.retry.maximumInterval);
    }
  }
}

/** How a step went: done, the world had moved, or it failed with this message. */
export type StepOutcome =
  /** `hasWaited`: it waits, and has waited as long as a step does for something that is still to come. */
  | { readonly kind: 'done'; readonly hasWaited: boolean }
  | { readonly kind: 'changed' | 'failed'; readonly message: string };

/** Performs one step. Its failures are outcomes: a new plan decides what becomes of them. */
export async function perform(
  ref: ResourceRef,
  step: Step,
  summary: PlannedStep['summary'],
): Promise<StepOutcome> {
  const options = MOVES_DATA.includes(step.kind) ? MOVING_DATA : WAITS.includes(step.kind) ? WAITING : ACTING;
  const activities = proxyActivities<
    Record<Step['kind'], (ref: ResourceRef, step: Step) => Promise<unknown>>
  >({ ...options, summary });
  try {
    const outcome = await activities[step.kind](ref, step);
    return { kind: 'done', hasWaited: outcome === 'notYet' };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const changed = cause instanceof ApplicationFailure && cause.type === 'PreconditionChanged';
    return { kind: changed ? 'changed' : 'failed', message: rootCause(error) ?? error.message };
  }
}
