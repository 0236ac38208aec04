/** How long the parts of an operation took, as Temporal recorded them. */
import type { Client } from '@temporalio/client';
import type { StepKind } from '../../../src/planner/model/decision.ts';

/** What a history names: the steps, and the pass between them. */
export type ActivityName = StepKind | 'assess';

/** A completed activity: from when it was asked for until its result was recorded, in milliseconds since the epoch. */
export interface TimedActivity {
  readonly name: ActivityName;
  /** Its one-line summary. */
  readonly about: string;
  readonly begun: number;
  /** When a worker took it: the last time, if it was tried more than once. */
  readonly taken: number;
  readonly ended: number;
}

type HistoryEvent = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>[number];

/** The activities of a history, in the order in which they were completed. */
export function timedActivities(events: readonly HistoryEvent[]): TimedActivity[] {
  const known = new Map(events.map(event => [String(event.eventId), event]));
  return events.flatMap(({ activityTaskCompletedEventAttributes: done, eventTime }) => {
    const asked = done && known.get(String(done.scheduledEventId));
    const taken = done && known.get(String(done.startedEventId));
    const name = asked?.activityTaskScheduledEventAttributes?.activityType?.name as ActivityName | undefined;
    if (!asked || !taken || name === undefined) return [];
    const about = Buffer.from(asked.userMetadata?.summary?.data ?? []).toString();
    return [
      {
        name,
        about,
        begun: millisecondsOf(asked.eventTime),
        taken: millisecondsOf(taken.eventTime),
        ended: millisecondsOf(eventTime),
      },
    ];
  });
}

/** Milliseconds since 1970. */
export function millisecondsOf(time: HistoryEvent['eventTime']): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
}

/** The activities of the newest operation of this type in an entity's slot. */
export async function activitiesOf(
  client: Client,
  entity: string,
  operation: string,
): Promise<TimedActivity[]> {
  const workflowId = `${entity}/operation`;
  const query = `WorkflowId = "${workflowId}" AND WorkflowType = "${operation}"`;
  // The newest comes first.
  const { value: newest } = await client.workflow.list({ query })[Symbol.asyncIterator]().next();
  if (newest === undefined) throw new Error(`${workflowId} never was a ${operation}`);
  const { events } = await client.workflow.getHandle(workflowId, newest.runId).fetchHistory();
  return timedActivities(events ?? []);
}

/** The sums of one operation, in milliseconds, by what was done: `assess`, `awaitQuorum`, … */
export function partsOf(activities: readonly TimedActivity[]): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  const add = (part: string, took: number): void => void parts.set(part, (parts.get(part) ?? 0) + took);
  for (const [index, { name, begun, taken, ended }] of activities.entries()) {
    add('until a worker took it', taken - begun);
    add(name, ended - taken);
    add('between two activities', Math.max(0, begun - (activities[index - 1]?.ended ?? begun)));
  }
  return parts;
}
