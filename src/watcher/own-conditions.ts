/** The two conditions that the watcher writes by itself, because no workflow can: what they say. Pure. */
import type { ConditionStatus } from '../api/conditions.ts';
import { timestamp } from '../api/time.ts';
import type { Undelivered } from './delivery.ts';
import type { WorkflowProblem } from './temporal.ts';

export interface OwnFinding {
  readonly type: 'TemporalUnavailable' | 'WorkflowStuck';
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
}

/** Temporal takes no signal for this resource. `since` in the message instead of a duration: it stays true unwritten. */
export function temporalUnavailable(undelivered: Pick<Undelivered, 'code'>, since: Date): OwnFinding {
  return {
    type: 'TemporalUnavailable',
    status: 'True',
    reason: 'Unreachable',
    message:
      `Since ${timestamp(since.getTime())} Temporal has not taken the news of a change of this resource (${undelivered.code}). ` +
      'Running members go on running, but nothing is created, changed or repaired. ' +
      'Bring Temporal back, or correct the address, namespace or credentials that the operator has for it; ' +
      'the operator retries by itself.',
  };
}

export const temporalReachable: OwnFinding = {
  type: 'TemporalUnavailable',
  status: 'False',
  reason: 'Reachable',
  message: 'Temporal takes the changes of this resource.',
};

/** A workflow of this resource cannot go on: its code fails, or does not fit its history. */
export function workflowStuck(problem: WorkflowProblem): OwnFinding {
  const details = problem.problems.length === 0 ? 'no details' : problem.problems.join(', ');
  return {
    type: 'WorkflowStuck',
    status: 'True',
    reason: 'WorkflowTaskFailing',
    message:
      `Workflow ${problem.workflowId} cannot go on: its tasks keep failing (${details}). ` +
      'Nothing is done for this resource until they succeed. Look at the last failure with ' +
      `"temporal workflow show --workflow-id ${problem.workflowId}". Deploy an operator release that can carry ` +
      'this history; or terminate the workflow: the operator then starts it anew from what it observes.',
  };
}

export const workflowGoesOn: OwnFinding = {
  type: 'WorkflowStuck',
  status: 'False',
  reason: 'WorkflowTasksSucceed',
  message: 'The tasks of the workflows of this resource succeed.',
};
