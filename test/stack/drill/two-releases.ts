/** What Temporal recorded while two releases of the operator worked for the same workflows. */
import type { Client } from '@temporalio/client';
import type { RecordedRun } from './recorded-work.ts';
import { faultOfTask } from '../../worlds/histories.ts';
import { millisecondsOf } from './timeline.ts';

/** One run, with the times of its beginning and end in milliseconds since the epoch. */
export interface TimedRun extends RecordedRun {
  readonly type: string;
  readonly begun: number;
  /** Infinity: it continues. */
  readonly ended: number;
}

export function timed({ events, ...run }: RecordedRun): TimedRun {
  const [first] = events;
  const last = events.at(-1);
  const type = first?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';
  const isOver = last !== undefined && endOf(last) !== undefined;
  const begun = millisecondsOf(first?.eventTime);
  return { ...run, events, type, begun, ended: isOver ? millisecondsOf(last.eventTime) : Infinity };
}

type Event = RecordedRun['events'][number];

/** How a run ended; undefined: by another event than one of an end. */
function endOf(event: Event): string | undefined {
  if (event.workflowExecutionCompletedEventAttributes) return 'completed';
  if (event.workflowExecutionContinuedAsNewEventAttributes) return 'continued';
  if (event.workflowExecutionFailedEventAttributes) return 'failed';
  if (event.workflowExecutionTimedOutEventAttributes) return 'timed out';
  if (event.workflowExecutionTerminatedEventAttributes) return 'terminated';
  return event.workflowExecutionCanceledEventAttributes ? 'cancelled' : undefined;
}

/** Runs that did not end as workflows of the operator end by themselves, one sentence each. */
export const endedBadly = (runs: readonly RecordedRun[]): string[] =>
  runs.flatMap(({ workflowId, events }) =>
    events.flatMap(event => {
      const end = endOf(event);
      return end === undefined || end === 'completed' || end === 'continued' ? [] : [`${workflowId} ${end}`];
    }),
  );

/** Workflow tasks that failed, one sentence each. */
export const failedTasks = (runs: readonly RecordedRun[]): string[] =>
  runs.flatMap(({ workflowId, runId, events }) =>
    events.flatMap(({ eventId, workflowTaskFailedEventAttributes: failed }) => {
      if (!failed) return [];
      const message = faultOfTask(failed);
      if (message === undefined) return [];
      return [`event ${String(eventId)} of ${workflowId} (${runId}), ${failed.identity}: ${message}`];
    }),
  );

/** Workflow tasks that no worker answered in time; the first try after a worker ended may be one. */
export const timedOutTasks = (runs: readonly RecordedRun[]): number =>
  runs.reduce(
    (sum, { events }) => sum + events.filter(event => event.workflowTaskTimedOutEventAttributes).length,
    0,
  );

/** How many workflow tasks, and how many activities, the workers of each release did for a run. */
export function workOf(
  { events }: RecordedRun,
  releaseOf: (identity: string) => string,
): Readonly<Record<string, { readonly tasks: number; readonly activities: number }>> {
  const work: Record<string, { tasks: number; activities: number }> = {};
  const of = (identity: string) => (work[releaseOf(identity)] ??= { tasks: 0, activities: 0 });
  for (const {
    workflowTaskCompletedEventAttributes: task,
    activityTaskStartedEventAttributes: act,
  } of events) {
    if (task?.identity) of(task.identity).tasks += 1;
    if (act?.identity) of(act.identity).activities += 1;
  }
  return work;
}

/** The types of the runs that lasted at some moment of an interval, with how many there were. */
export function typesDuring(
  runs: readonly TimedRun[],
  [from, until]: readonly [number, number],
): Readonly<Record<string, number>> {
  const during = runs.filter(({ begun, ended }) => begun <= until && ended >= from);
  return Object.fromEntries(
    [...Map.groupBy(during, ({ type }) => type)].map(([type, all]) => [type, all.length]),
  );
}

/** Operations that go on. Entities last as long as their resources. */
export async function stillUnderWay(client: Client, namespace: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: 'ExecutionStatus = "Running"' }))
    if (workflowId.split('/')[1] === namespace && workflowId.endsWith('/operation')) found.push(workflowId);
  return found;
}
