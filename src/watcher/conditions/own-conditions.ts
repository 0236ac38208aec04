/** The conditions that the watcher writes by itself, because no workflow can: what they say. Pure. */
import { type FindingBesidePasses, passFailing } from '../../api/derived/beside-passes.ts';
import type { Kind } from '../../api/names.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Unprocessed } from '../queue/work-queue.ts';
import type { RunningWorkflow } from '../temporal/client.ts';

/** Temporal takes no signal for this resource. `since` in the message instead of a duration: it stays true unwritten. */
export function temporalUnavailable({ code }: Pick<Unprocessed, 'code'>, since: Date): FindingBesidePasses {
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

export const temporalReachable: FindingBesidePasses = {
  type: 'TemporalUnavailable',
  status: 'False',
  reason: 'Reachable',
  message: 'Temporal accepts signals for this resource.',
};

/** A workflow of this resource cannot go on: its code fails, or does not fit its history. */
export function workflowStuck(workflow: RunningWorkflow): FindingBesidePasses {
  return {
    type: 'WorkflowStuck',
    status: 'True',
    reason: 'WorkflowTaskFailing',
    message:
      `Workflow ${workflow.workflowId} cannot continue: its tasks keep failing (${workflow.problems.join(', ')}). ` +
      'Nothing is done for this resource until they succeed. Show the last failure with ' +
      `"temporal workflow show --workflow-id ${workflow.workflowId}". Deploy an operator release that can replay ` +
      'this history; or terminate the workflow: the operator then starts it again from what it observes.',
  };
}

export const workflowGoesOn: FindingBesidePasses = {
  type: 'WorkflowStuck',
  status: 'False',
  reason: 'WorkflowTasksSucceed',
  message: 'The tasks of the workflows of this resource succeed.',
};

/** No worker completes what the workflow of this resource needs since then; with `queues` because it runs at another task queue, where it stays. */
export function noWorkerFor(
  kind: Kind,
  queues: { readonly ofWorkflow: string; readonly ofOperator: string } | undefined,
  since: Date,
): FindingBesidePasses {
  if (queues === undefined) {
    const text =
      'no worker of the operator has asked Temporal for tasks, so nothing is done for this resource. ' +
      "Check whether the operator's pods run and have CPU time, and check their logs.";
    return passFailing(kind, { reason: 'TasksNotCompleted', text, since });
  }
  const { ofWorkflow, ofOperator } = queues;
  const text =
    `this resource's workflow waits at the task queue "${ofWorkflow}", which it was started with, and the operator serves "${ofOperator}", so it does nothing for the resource. ` +
    `Set TASK_QUEUE of the operator (temporal.taskQueue of the chart) to "${ofWorkflow}".`;
  return passFailing(kind, { reason: 'OtherTaskQueue', text, since });
}

/** Temporal has taken no signal for this resource since then, so nobody knows whether its passes run. */
export function passesUnknown(kind: Kind, code: string, since: Date): FindingBesidePasses {
  const text = `it is not known whether passes of this resource run: Temporal does not answer (${code}).`;
  return passFailing(kind, { reason: 'TemporalUnreachable', text, since });
}
