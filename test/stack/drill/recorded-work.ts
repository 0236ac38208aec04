/** What Temporal recorded of many workflows: whether their tasks were answered in time, and when somebody worked for them. */
import type { Client } from '@temporalio/client';
import { millisecondsOf, type TimedActivity, timedActivities } from './timeline.ts';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** One run of a workflow. */
export interface RecordedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly events: readonly HistoryEvent[];
}

/**
 * Every run of the workflows of the resources in a Kubernetes namespace, continued and ended ones too.
 * @param since older ones are of a namespace that had the name before
 */
export async function runsOf(client: Client, namespace: string, since: Date): Promise<RecordedRun[]> {
  const runs: RecordedRun[] = [];
  for await (const { workflowId, runId, startTime } of client.workflow.list()) {
    if (workflowId.split('/')[1] !== namespace || startTime < since) continue;
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowId, runId, events: events ?? [] });
  }
  return runs;
}

/**
 * The tasks that were tried more than twice, one sentence each. A first try may be cut off by a kill; when the second one is not
 * answered within the limit of a task, every other one may share its fate. Tries that had no answer leave no event behind, but
 * each event of a task has the number of its try.
 */
export function tasksTimedOutTwice(runs: readonly RecordedRun[]): string[] {
  return runs.flatMap(({ workflowId, events }) =>
    events.flatMap(({ eventId, workflowTaskScheduledEventAttributes: task }, at) => {
      const tries = task?.attempt ?? 1;
      if (tries <= 2) return [];
      const around = events.slice(Math.max(0, at - EVENTS_AROUND), at + EVENTS_AROUND).map(sentenceOf);
      return [
        `event ${String(eventId)} of ${workflowId}: a workflow task was tried ${tries} times: ${around.join(', ')}`,
      ];
    }),
  );
}

/** So many events before and after a task tell what it had to do, and when it was given out before. */
const EVENTS_AROUND = 8;

function sentenceOf(event: HistoryEvent): string {
  const kind = Object.keys(event).find(key => key.endsWith('EventAttributes')) ?? 'unknown';
  const at = new Date(millisecondsOf(event.eventTime));
  return `${String(event.eventId)} ${kind.replace('EventAttributes', '')} ${at.toISOString().slice(11, 23)}`;
}

/** Milliseconds from a kill until each workflow was worked for again, the shortest first. */
export function lookedAtAgain(runs: readonly RecordedRun[], killed: number): number[] {
  // An operation looks at the cluster as long as it lasts, and the cluster's own workflow otherwise.
  const ofResource = Map.groupBy(runs, ({ workflowId }) => workflowId.replace(/\/operation$/, ''));
  return [...ofResource.values()]
    .flatMap(all => {
      const after = all
        .flatMap(({ events }) => timedActivities(events))
        .filter(({ taken }) => taken > killed);
      return after.length === 0 ? [] : [Math.min(...after.map(seenAt)) - killed];
    })
    .sort((a, b) => a - b);
}

/** A pass has looked when it ends; of a step that waits for something it is seen as soon as a worker has taken it. */
function seenAt({ name, taken, ended }: TimedActivity): number {
  return name === 'assess' ? ended : taken;
}
