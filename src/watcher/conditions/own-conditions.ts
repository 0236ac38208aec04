/** The conditions that the watcher writes by itself, because no workflow can: what they say. Pure. */
import {
  type Condition,
  type ConditionReason,
  type ConditionStatus,
  finding,
} from '../../api/conditions/catalogue.ts';
import { readinessUnobserved } from '../../api/derived/readiness.ts';
import type { Kind } from '../../api/names.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Unprocessed } from '../queue/work-queue.ts';
import type { OtherQueue, WorkflowProblem } from '../temporal/client.ts';

export interface OwnFinding {
  readonly type: 'TemporalUnavailable' | 'WorkflowStuck' | 'PassFailing';
  readonly status: ConditionStatus;
  readonly reason: ConditionReason;
  readonly message: string;
  /** Written in place of conditions that the last pass set and that nobody observes any more; the next pass sets them again. */
  readonly instead?: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
}

/** Temporal takes no signal for this resource. `since` in the message instead of a duration: it stays true unwritten. */
export function temporalUnavailable({ code }: Pick<Unprocessed, 'code'>, since: Date): OwnFinding {
  return {
    type: 'TemporalUnavailable',
    status: 'True',
    reason: 'Unreachable',
    message:
      `Since ${timestamp(since.getTime())} Temporal has not accepted signals for this resource (${code}). ` +
      'Running members keep running, but nothing is created, changed or repaired. ' +
      'Bring Temporal back, or correct the address, namespace or credentials in the configuration of the operator; ' +
      'the operator retries automatically.',
  };
}

export const temporalReachable: OwnFinding = {
  type: 'TemporalUnavailable',
  status: 'False',
  reason: 'Reachable',
  message: 'Temporal accepts signals for this resource.',
};

/** A workflow of this resource cannot go on: its code fails, or does not fit its history. */
export function workflowStuck(problem: WorkflowProblem): OwnFinding {
  const details = problem.problems.length === 0 ? 'no details' : problem.problems.join(', ');
  return {
    type: 'WorkflowStuck',
    status: 'True',
    reason: 'WorkflowTaskFailing',
    message:
      `Workflow ${problem.workflowId} cannot continue: its tasks keep failing (${details}). ` +
      'Nothing is done for this resource until they succeed. Show the last failure with ' +
      `"temporal workflow show --workflow-id ${problem.workflowId}". Deploy an operator release that can replay ` +
      'this history; or terminate the workflow: the operator then starts it again from what it observes.',
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

function waitsElsewhere({ ofWorkflow, ofOperator }: OtherQueue): string {
  return (
    `this resource's workflow waits at the task queue "${ofWorkflow}", which it was started with, and the operator serves "${ofOperator}", so it does nothing for the resource. ` +
    `Set TASK_QUEUE of the operator (temporal.taskQueue of the chart) to "${ofWorkflow}".`
  );
}

/** No pass of this resource has succeeded since then. */
export function noPassFor(
  kind: Kind,
  awaited: {
    readonly kind: 'task' | 'pass' | 'temporal';
    readonly failure: string | undefined;
    readonly queues?: OtherQueue;
  },
  since: Date,
): OwnFinding {
  const from = timestamp(since.getTime());
  const failure = (awaited.failure ?? 'no reason was given').slice(0, LONGEST_FAILURE);
  const said = {
    pass: `Since ${from} no pass of this resource has succeeded: ${failure}. The operator retries; remove the cause of the failure.`,
    task:
      `Since ${from} no worker of the operator has completed a task of this resource's workflow, so the operator does nothing for it. ` +
      "Check whether the operator's pods run and have CPU time, and check their logs.",
    temporal: `Since ${from} it is not known whether passes of this resource run: Temporal does not answer (${failure}).`,
  };
  const reasons = { pass: 'PassFails', task: 'TasksNotCompleted', temporal: 'TemporalUnreachable' } as const;
  const [reason, text] =
    awaited.queues === undefined
      ? [reasons[awaited.kind], said[awaited.kind]]
      : (['OtherTaskQueue', `Since ${from} ${waitsElsewhere(awaited.queues)}`] as const);
  const { message, ...own } = finding('PassFailing', reason, text);
  const available = finding(
    'Available',
    'NotLookedAt',
    `Since ${from} this was not observed: see the condition PassFailing.`,
  );
  return {
    ...own,
    type: 'PassFailing',
    message,
    ...(kind === 'EtcdCluster' && { instead: [available, readinessUnobserved(available.message)] }),
  };
}

export const passesSucceed: OwnFinding = {
  type: 'PassFailing',
  status: 'False',
  reason: 'PassesSucceed',
  message: 'Passes of this resource succeed.',
};
