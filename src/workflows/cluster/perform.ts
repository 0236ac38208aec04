/** Has activities done, each with the options and the one-line summary that people read in the Temporal UI. */
import { ActivityFailure, ApplicationFailure, proxyActivities, rootCause } from '@temporalio/workflow';
import type { Actor, Assessment, PlannedStep, Step } from '../../activities/index.ts';
import { HEARTBEAT, movingData, untilLooked } from '../temporal/looking.ts';
import type { StepOutcome } from '../engine/operation.ts';
import type { ResourceRef } from '../messages/resource.ts';
import { isAssessment } from '../messages/shapes.ts';

/** A step that keeps failing gives control back within a minute, so that people are told; one takes seconds on a busy machine. */
const ACTING = {
  startToCloseTimeout: '25s',
  scheduleToCloseTimeout: '50s',
  heartbeatTimeout: HEARTBEAT,
} as const;
/** A step that waits looks for ten seconds and then lets the planner look. */
const WAITING = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '60s',
  heartbeatTimeout: HEARTBEAT,
} as const;

const MOVES_DATA: readonly Step['kind'][] = ['fillVolume', 'compareKeys'];
const WAITS: readonly Step['kind'][] = [
  'awaitQuorum',
  'awaitMembers',
  'sealMembers',
  'awaitQuiet',
  'awaitVersion',
  'awaitBackup',
  'awaitAgreement',
  'addLearner',
  'promoteLearner',
  'stopMember',
  'deletePods',
  'fenceMembers',
  'unpackBackup',
];

/** One pass: observe, plan, report. */
export function assess(ref: ResourceRef, actor: Actor, workflowId: string): Promise<Assessment> {
  const summary = `look at ${ref.namespace}/${ref.name} and plan`;
  return untilLooked(summary, activities => activities.assess(ref, { actor, workflowId }), isAssessment);
}

/** Performs one step. Its failures are outcomes: a new plan decides what becomes of them. */
export async function perform(
  ref: ResourceRef,
  step: Step,
  summary: PlannedStep['summary'],
): Promise<StepOutcome> {
  const options = MOVES_DATA.includes(step.kind)
    ? movingData()
    : WAITS.includes(step.kind)
      ? WAITING
      : ACTING;
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
