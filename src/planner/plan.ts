/**
 * The planner: what was observed and what users asked for in, one decision out. Pure: no clock, no randomness, no
 * input or output, so the same observation always gives the same decision.
 */
import { howToAsk } from '../api/values/request-answers.ts';
import { OPERATION_NAMES } from '../api/operations.ts';
import { OPERATIONS, PLANNERS, rowOf } from './operations/index.ts';
import { clientRoutingSteps, isWithdrawnOnly } from './operations/repair/client-routing.ts';
import { closingSteps } from './operations/repair/closing.ts';
import { beforeJoin } from './operations/upgrade/descent.ts';
import {
  withSubject,
  type Decision,
  idle,
  type Obstacle,
  operate,
  type Operation,
  type Work,
  asClosing,
  asRollback,
} from './model/decision.ts';
import type { PlannedUpon } from './model/step-catalogue.ts';
import type { Observation } from './model/observation.ts';
import { type WorkflowState, attribution } from './model/workflow-state.ts';
import { nextPassSeconds } from './next-look.ts';
import type { Situation } from './model/situation.ts';
import { situationOf } from './situation.ts';
import { abortOf } from './checks/aborted.ts';
import { hasFailed, isSkipped, isNonBlockingFailure } from './checks/failed-steps.ts';
import { restoreUnderWay } from './model/restore-of-cluster.ts';

/** What to do next about one cluster. `undefined`: the resource does not exist any more. */
export function plan(observation: Observation | undefined, workflowState: WorkflowState): Decision {
  return observation === undefined ? { kind: 'gone' } : decide(situationOf(observation, workflowState));
}

/** The same, of a situation that is worked out already. */
export function decide(situation: Situation): Decision {
  const decision = admitting(closing(firstDecision(situation), situation), situation);
  if (decision.kind === 'idle') return idle(nextPassSeconds(situation));
  return withWorkflowState(decision, situation.workflowState);
}

/** The first that there is to do; before it what failed lately and nothing depends on, when there is nothing else. */
function firstDecision(situation: Situation): Stopped {
  let passedOver: Stopped | undefined;
  for (const planner of PLANNERS) {
    const wanted = asRestore(beforeJoin(situation, planner(situation)), situation);
    if (wanted === undefined) continue;
    const decision = unlessStopped(wanted, situation);
    const isStopped = wanted.kind === 'operate' && decision.kind === 'blocked';
    const found = { decision, stopped: isStopped ? wanted : undefined };
    if (!isStopped || !isSkipped(situation.workflowState, wanted)) return found;
    passedOver ??= found;
  }
  return passedOver ?? { decision: idle(), stopped: undefined };
}

/** A decision, and the work that it says is stopped. */
interface Stopped {
  readonly decision: Decision;
  readonly stopped: Work | undefined;
}

/**
 * What users, or a step that failed, have stopped is stopped when nothing is left half done: a member that the operator itself
 * took away is given back first (docs/decisions/0126-tried-before-and-closed-after.md).
 */
function closing({ decision, stopped }: Stopped, situation: Situation): Decision {
  if (decision.kind !== 'blocked') return decision;
  const steps = closingSteps(situation, stopped);
  if (steps.length === 0) return decision;
  const work = asClosing(operate(underWay(situation) ?? 'repairCluster', steps));
  return unlessStopped(work, situation);
}

/** The operation that is recorded as being under way. */
function underWay({ cluster }: Situation): Operation | undefined {
  const { operation: recorded } = cluster.status;
  return OPERATION_NAMES.find(operation => operation === recorded?.type);
}

/** Members that clients are shut out from without need are opened first, as a part of what is under way. */
function admitting(decision: Decision, situation: Situation): Decision {
  const steps = clientRoutingSteps(situation, decision);
  if (steps.length === 0) return decision;
  const operation =
    decision.kind === 'operate' ? decision.operation : (underWay(situation) ?? 'repairCluster');
  // A member whose clients were withdrawn for something that was aborted or is paused is admitted again.
  const asEnd = isWithdrawnOnly(situation, steps) ? asClosing : asRollback;
  const first = asEnd(operate(operation, steps));
  if (stopOf(first, situation) !== undefined) return decision;
  return { ...first, plan: [...first.plan, ...('plan' in decision ? decision.plan : [])] };
}

/** The first step takes along what users said, so that it is looked at with the same eyes right before it is done. */
function withWorkflowState(
  decision: Decision,
  { approvals = [], requests = [], aborted, failed, paused }: WorkflowState,
): Decision {
  const plannedUpon: PlannedUpon = {
    ...(failed && isNonBlockingFailure({ failed }) && { failed }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(aborted && { aborted }),
    ...(paused && { paused }),
  };
  if (decision.kind !== 'operate' || Object.keys(plannedUpon).length === 0) return decision;
  return { ...decision, step: { ...decision.step, plannedUpon } };
}

/** Until clients are let in, whatever brings a restored cluster to its size is part of the restore. */
function asRestore(decision: Decision | undefined, { cluster }: Situation): Decision | undefined {
  const under = restoreUnderWay(cluster);
  if (decision?.kind !== 'operate' || cluster.deleting || under === undefined) return decision;
  return withSubject(under.uid, { ...decision, operation: 'restoreCluster' });
}

/** Work that users stopped is shown, not done. */
function unlessStopped(decision: Decision, situation: Situation): Decision {
  if (decision.kind !== 'operate') return decision;
  const stop = stopOf(decision, situation);
  if (stop === undefined) return decision;
  const { operation, subject, plan } = decision;
  const isTriedAgain = stop.reason === 'StepFailed';
  return {
    kind: 'blocked',
    ...stop,
    nextPassSeconds: 60,
    plan,
    ...(isTriedAgain && { operation, ...(subject !== undefined && { subject }) }),
  };
}

function stopOf(work: Work, situation: Situation): Obstacle | undefined {
  const { workflowState, cluster } = situation;
  const { operation, step, undo, closes, subject } = work;
  const { failed } = workflowState;
  if (closes !== undefined) {
    // Only what failed itself waits for its back-off.
    const isItself = failed?.operation === operation && (failed.step ?? step.kind) === step.kind;
    return isItself ? stepFailed(failed, situation) : undefined;
  }
  if (workflowState.paused !== undefined) {
    return {
      reason: 'Paused',
      message: `paused by ${attribution(workflowState.paused)}; to continue, ${howToAsk('resume')}`,
    };
  }
  if (cluster.config.paused && OPERATIONS[operation].ignoresPause !== true) {
    return { reason: 'Paused', message: 'spec.paused is true; set it to false to continue' };
  }
  const aborted = abortOf(situation, { operation, subject });
  if (undo === undefined && aborted !== undefined) {
    return {
      reason: 'Aborted',
      message: `${operation} was aborted by ${attribution(aborted)}; it starts again when the specification changes; to start it now, ${howToAsk('resync')}`,
    };
  }
  return failed !== undefined && hasFailed(workflowState, { operation, step })
    ? stepFailed(failed, situation)
    : undefined;
}

function stepFailed(
  { message, operation }: NonNullable<WorkflowState['failed']>,
  situation: Situation,
): Obstacle {
  const back = rowOf(operation)?.wayBack?.(situation);
  const said = `${message}; the operator tries again`;
  return { reason: 'StepFailed', message: back === undefined ? said : `${said}; ${back}` };
}
