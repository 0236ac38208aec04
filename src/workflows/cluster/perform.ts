/** Has activities done, each with the options and the one-line summary that people read in the Temporal UI. */
import { ActivityFailure, proxyActivities } from '@temporalio/workflow';
import type { Actor, Assessment, Decision, PlannedStep, Step } from '../../activities/index.ts';
import { optionsOf, outcomeOfFailure, untilLooked } from '../temporal/looking.ts';
import type { StepOutcome } from '../engine/operation.ts';
import type { ResourceRef } from '../messages/resource.ts';
import { isAssessment } from '../messages/shapes.ts';

type Operate = Extract<Decision, { kind: 'operate' }>;

/** One pass: observe, plan, report. */
export function assess(ref: ResourceRef, actor: Actor, workflowId: string): Promise<Assessment> {
  const summary = `look at ${ref.namespace}/${ref.name} and plan`;
  return untilLooked(summary, activities => activities.assess(ref, { actor, workflowId }), isAssessment);
}

/** Performs one step. Its failures are outcomes: a new plan decides what becomes of them. */
export async function perform(
  ref: ResourceRef,
  { step, timing }: Operate,
  summary: PlannedStep['summary'],
): Promise<StepOutcome> {
  const activities = proxyActivities<
    Record<Step['kind'], (ref: ResourceRef, step: Step) => Promise<unknown>>
  >({ ...optionsOf(timing), summary });
  try {
    const outcome = await activities[step.kind](ref, step);
    return { kind: 'done', hasWaited: outcome === 'notYet' };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return outcomeOfFailure(error);
  }
}
