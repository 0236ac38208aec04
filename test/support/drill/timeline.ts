/** How long the parts of an operation took, as Temporal recorded them. */
import type { Client } from '@temporalio/client';

/** One activity; all moments in milliseconds since the epoch. */
export interface Deed {
  readonly name: string;
  readonly scheduled: number;
  /** When a worker took it. */
  readonly started: number;
  readonly completed: number;
}

interface Timestamp {
  readonly seconds?: unknown;
  readonly nanos?: number | null;
}

/** The activities of the newest operation of this type in an entity's slot, in the order in which they were completed. */
export async function deedsOf(client: Client, entity: string, operation: string): Promise<Deed[]> {
  const workflowId = `${entity}/operation`;
  const runs = client.workflow.list({
    query: `WorkflowId = "${workflowId}" AND WorkflowType = "${operation}"`,
  });
  // The newest comes first.
  const { value: newest } = await runs[Symbol.asyncIterator]().next();
  if (newest === undefined) throw new Error(`${workflowId} never was a ${operation}`);
  const { events } = await client.workflow.getHandle(workflowId, newest.runId).fetchHistory();
  const scheduled = new Map<string, { readonly name: string; readonly at: number }>();
  const started = new Map<string, number>();
  const deeds: Deed[] = [];
  for (const event of events ?? []) {
    const at = milliseconds(event.eventTime);
    const { activityTaskScheduledEventAttributes: begun, activityTaskStartedEventAttributes: taken } = event;
    if (begun) scheduled.set(String(event.eventId), { name: begun.activityType?.name ?? '', at });
    if (taken) started.set(String(taken.scheduledEventId), at);
    const id = String(event.activityTaskCompletedEventAttributes?.scheduledEventId);
    const of = scheduled.get(id);
    if (of !== undefined)
      deeds.push({ name: of.name, scheduled: of.at, started: started.get(id) ?? of.at, completed: at });
  }
  return deeds;
}

function milliseconds(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
}

/** The sums of one operation, in milliseconds, by what was done: `waited for a worker`, `assess`, `createMember` … */
export function partsOf(deeds: readonly Deed[]): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  const add = (part: string, took: number): void => void parts.set(part, (parts.get(part) ?? 0) + took);
  for (const [index, { name, scheduled, started, completed }] of deeds.entries()) {
    add('until a worker took it', started - scheduled);
    add(name, completed - started);
    add('between two activities', Math.max(0, scheduled - (deeds[index - 1]?.completed ?? scheduled)));
  }
  return parts;
}
