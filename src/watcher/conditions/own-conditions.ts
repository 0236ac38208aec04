/** The conditions that the watcher writes by itself, because no workflow can: what they say. Pure. */
import { type Condition, type ConditionStatus, finding } from '../../api/conditions/catalogue.ts';
import type { Kind } from '../../api/names.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Undelivered } from '../queue/delivery.ts';
import type { WorkflowProblem } from '../temporal/client.ts';

export interface OwnFinding {
  readonly type: 'TemporalUnavailable' | 'WorkflowStuck' | 'PassFailing';
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  /** What the operator's own condition is to say until its next pass: without one it claims what nobody observes. */
  readonly instead?: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;
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

/** Errors are long; what matters of one stands at its beginning. */
const LONGEST_FAILURE = 500;

/** No pass of this resource has succeeded since then. */
export function noPassFor(
  kind: Kind,
  awaited: { readonly kind: 'task' | 'pass' | 'temporal'; readonly failure: string | undefined },
  since: Date,
): OwnFinding {
  const from = timestamp(since.getTime());
  const failure = (awaited.failure ?? 'it was not said why').slice(0, LONGEST_FAILURE);
  const said = {
    pass: `Since ${from} no pass of this resource has succeeded: ${failure}. It is made again and again; remove what keeps it from succeeding.`,
    task:
      `Since ${from} no worker of the operator has completed a task of this resource's workflow, so nothing is looked at or done for it. ` +
      "Look whether the operator's pods run and have processor time, and at their logs.",
    temporal: `Since ${from} it is not known whether passes of this resource are made: Temporal cannot be asked (${failure}).`,
  };
  const reason = { pass: 'PassFails', task: 'TasksNotCompleted', temporal: 'TemporalUnreachable' } as const;
  const { message, ...own } = finding('PassFailing', reason[awaited.kind], said[awaited.kind]);
  const available = finding(
    'Available',
    'NotLookedAt',
    `Since ${from} nobody has looked: see the condition PassFailing.`,
  );
  return { ...own, type: 'PassFailing', message, ...(kind === 'EtcdCluster' && { instead: available }) };
}

export const passesSucceed: OwnFinding = {
  type: 'PassFailing',
  status: 'False',
  reason: 'PassesSucceed',
  message: 'Passes of this resource succeed.',
};
