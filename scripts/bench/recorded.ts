/** Histories to replay: the recorded ones, and one that is made up for the floor. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export interface Recorded {
  /** Of the workflow. */
  readonly type: string;
  readonly workflowId: string;
  readonly history: { readonly events: readonly object[] };
}

interface Started {
  readonly workflowExecutionStartedEventAttributes: {
    readonly workflowType: { readonly name: string };
    readonly workflowId: string;
  };
}

const folder = fileURLToPath(new URL('../../test/histories', import.meta.url));

/** The longest recorded history of each workflow type; those that are continued as new were recorded up to then. */
export function longestOfEachType(): Recorded[] {
  const longest = new Map<string, Recorded>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.json.gz')) continue;
    const history = JSON.parse(
      gunzipSync(readFileSync(join(folder, path))).toString(),
    ) as Recorded['history'];
    const { workflowType, workflowId } = (history.events[0] as Started)
      .workflowExecutionStartedEventAttributes;
    const { name: type } = workflowType;
    const known = longest.get(type)?.history.events.length ?? 0;
    if (history.events.length > known) longest.set(type, { type, workflowId, history });
  }
  return [...longest.values()].sort((a, b) => b.history.events.length - a.history.events.length);
}

/** The history of `floor` (floor-workflow.ts), as a server would record it. */
export function historyOfFloor(times: number): Recorded {
  const events: object[] = [];
  const add = (eventType: string, attributes: object) => {
    const eventId = String(events.length + 1);
    events.push({ eventId, eventTime: '2026-01-01T00:00:00Z', eventType, ...attributes });
    return eventId;
  };
  const workflowTask = () => {
    const scheduledEventId = add('EVENT_TYPE_WORKFLOW_TASK_SCHEDULED', {
      workflowTaskScheduledEventAttributes: { taskQueue: { name: 'floor' }, attempt: 1 },
    });
    const startedEventId = add('EVENT_TYPE_WORKFLOW_TASK_STARTED', {
      workflowTaskStartedEventAttributes: { scheduledEventId },
    });
    return add('EVENT_TYPE_WORKFLOW_TASK_COMPLETED', {
      workflowTaskCompletedEventAttributes: { scheduledEventId, startedEventId },
    });
  };
  add('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED', {
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: 'floor' },
      taskQueue: { name: 'floor' },
      input: { payloads: [payload(times)] },
      originalExecutionRunId: '00000000-0000-4000-8000-000000000000',
      workflowRunTimeout: '0s',
      workflowTaskTimeout: '10s',
      attempt: 1,
    },
  });
  for (let done = 1; done <= times; done += 1) {
    const workflowTaskCompletedEventId = workflowTask();
    const scheduledEventId = add('EVENT_TYPE_ACTIVITY_TASK_SCHEDULED', {
      activityTaskScheduledEventAttributes: {
        activityId: String(done),
        activityType: { name: 'nothing' },
        workflowTaskCompletedEventId,
      },
    });
    const startedEventId = add('EVENT_TYPE_ACTIVITY_TASK_STARTED', {
      activityTaskStartedEventAttributes: { scheduledEventId },
    });
    add('EVENT_TYPE_ACTIVITY_TASK_COMPLETED', {
      activityTaskCompletedEventAttributes: { scheduledEventId, startedEventId },
    });
  }
  const workflowTaskCompletedEventId = workflowTask();
  add('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED', {
    workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId },
  });
  return { type: 'floor', workflowId: 'floor', history: { events } };
}

function payload(value: unknown) {
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  return { metadata: { encoding: encoded('json/plain') }, data: encoded(JSON.stringify(value)) };
}
