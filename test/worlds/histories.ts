/**
 * The histories of a workflow that continues as new. How many passes there are, and so when a run continues, depends on how busy
 * the machine is: a test that looks for something that has happened looks at all of them.
 */
import type { Client, WorkflowHandle } from '@temporalio/client';

export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** Of the present run and of all that it continues, the oldest first. */
export async function historiesOf(client: Client, workflowId: string): Promise<History[]> {
  const found: History[] = [];
  for (let runId: string | undefined; runId !== ''; ) {
    const history: History = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    found.unshift(history);
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  return found;
}

export function eventsOf(histories: readonly History[]): HistoryEvent[] {
  return histories.flatMap(({ events }) => events ?? []);
}

/** Names of the events' attributes, in order. */
export function eventTypesOf(histories: readonly History[]): string[] {
  return eventsOf(histories).flatMap(event =>
    Object.keys(event).filter(key => key.endsWith('EventAttributes')),
  );
}

/** Why a task of a workflow failed. Undefined: a signal that came meanwhile has it done again, which is no fault. */
export function faultOfTask({
  failure,
  cause,
}: NonNullable<HistoryEvent['workflowTaskFailedEventAttributes']>): string | undefined {
  const message = failure?.message || `cause ${String(cause)}`;
  return message === 'UnhandledCommand' ? undefined : message;
}

/** Why tasks of the workflow failed, one message each. */
export function faultsOf(histories: readonly History[]): string[] {
  return eventsOf(histories).flatMap(
    ({ workflowTaskFailedEventAttributes: failed }) => (failed && faultOfTask(failed)) ?? [],
  );
}
