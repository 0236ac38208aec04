/** The conditions about the operator itself and its workflows, which the watcher writes. Pure data; see catalogue.ts. */
import type { ConditionTable } from './table.ts';

export const OPERATOR_CONDITIONS = {
  /** Does the operator lack its workflow engine? */
  TemporalUnavailable: {
    True: {
      Unreachable: [
        'The operator cannot reach Temporal: members keep running, nothing is changed or repaired.',
        'Bring Temporal back; the operator retries automatically.',
      ],
    },
    False: { Reachable: ['The operator reaches Temporal.'] },
  },
  /** Does the workflow of the resource fail over and over? Kept by the watcher. */
  WorkflowStuck: {
    True: {
      WorkflowTaskFailing: [
        "The resource's workflow cannot continue: its code does not match its history, or it fails in another way.",
        'Inspect the workflow in the Temporal UI; reset it, or terminate it: it starts again from what the operator observes.',
      ],
    },
    False: { WorkflowTasksSucceed: ['The tasks of the workflow succeed.'] },
  },
  /** Has no pass of the resource succeeded for a minute? Written by its workflow, or by the watcher where no worker runs that. */
  PassFailing: {
    True: {
      PassFails: [
        'Passes run and fail, so the status is not current.',
        'Read the error in the message and remove its cause: a missing permission, a webhook or quota that refuses, a server that does not answer.',
      ],
      TasksNotCompleted: [
        'There is something to do, and no worker of the operator has asked Temporal for tasks for two minutes.',
        "Check whether the operator's pods run and have CPU time, their logs, and the condition WorkflowStuck.",
      ],
      OtherTaskQueue: [
        'The workflow of the resource was started with another task queue than the operator serves now, and stays there.',
        'Set TASK_QUEUE of the operator, or temporal.taskQueue of the chart, to the queue in the message.',
      ],
    },
    Unknown: {
      TemporalUnreachable: [
        'Temporal cannot be asked whether passes run.',
        'See the condition TemporalUnavailable.',
      ],
    },
    False: { PassesSucceed: ['Passes succeed.'] },
  },
} as const satisfies ConditionTable;
