/**
 * Reads histories from Temporal. Loaded only when a report is made: the client of Temporal is as large as the rest of the plugin
 * (docs/decisions/0097-the-kubectl-plugin.md).
 */
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** Of a run: more than the operator lets one grow to, by far. */
const MOST_EVENTS = 5_000;
const CONNECT_MS = 10_000;
const CALL_MS = 20_000;

export interface RunOfWorkflow {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: string;
  /** ISO 8601. */
  readonly started: string;
  readonly events: readonly unknown[];
  /** Whether there are more events than these. */
  readonly isCut: boolean;
}

export interface Asked {
  readonly address: string;
  readonly namespace: string;
  readonly tls: NonNullable<ConnectionOptions['tls']>;
  /** Is sent with each request. */
  readonly apiKey?: string | undefined;
  /** Which workflows, and how many of the latest runs of each. */
  readonly workflows: readonly { readonly workflowId: string; readonly runs: number }[];
}

/** The runs, the latest of each workflow first. @throws what gRPC says when the server cannot be reached or asked */
export async function readRuns({
  address,
  namespace,
  tls,
  apiKey,
  workflows,
}: Asked): Promise<RunOfWorkflow[]> {
  const connection = await Connection.connect({
    address,
    tls,
    connectTimeout: CONNECT_MS,
    metadata: { 'temporal-namespace': namespace },
    ...(apiKey !== undefined && { apiKey }),
  });
  try {
    const found: RunOfWorkflow[] = [];
    for (const { workflowId, runs } of workflows)
      for (const run of await runsOf(connection, { namespace, workflowId, runs })) found.push(run);
    return found;
  } finally {
    await connection.close();
  }
}

const soon = (): number => Date.now() + CALL_MS;

async function runsOf(
  connection: Connection,
  { namespace, workflowId, runs }: { namespace: string; workflowId: string; runs: number },
): Promise<RunOfWorkflow[]> {
  const query = `WorkflowId = '${workflowId.replaceAll("'", "''")}'`;
  const { executions } = await connection.withDeadline(soon(), () =>
    connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: runs }),
  );
  return Promise.all(
    executions.slice(0, runs).map(async ({ execution, type, status, startTime }) => {
      const runId = execution?.runId ?? '';
      const started = new Date(Number(startTime?.seconds ?? 0) * 1_000).toISOString();
      const history = await eventsOf(connection, { namespace, execution: { workflowId, runId } });
      return { workflowId, runId, type: type?.name ?? '', status: statusName(status), started, ...history };
    }),
  );
}

/** Of temporal.api.enums.v1.WorkflowExecutionStatus. */
const statusName = (status: number | null | undefined): string =>
  [
    'Unspecified',
    'Running',
    'Completed',
    'Failed',
    'Canceled',
    'Terminated',
    'ContinuedAsNew',
    'TimedOut',
    'Paused',
  ][status ?? 0] ?? `${status}`;

async function eventsOf(
  connection: Connection,
  which: { namespace: string; execution: { workflowId: string; runId: string } },
): Promise<{ events: readonly unknown[]; isCut: boolean }> {
  const events: unknown[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = { ...which, ...(nextPageToken && { nextPageToken }) };
    const answer = await connection.withDeadline(soon(), () =>
      connection.workflowService.getWorkflowExecutionHistory(page),
    );
    const { events: more = [] } = JSON.parse(historyToJSON(answer.history ?? {})) as { events?: unknown[] };
    events.push(...more);
    nextPageToken = answer.nextPageToken;
  } while (nextPageToken !== undefined && nextPageToken.length > 0 && events.length < MOST_EVENTS);
  return { events, isCut: nextPageToken !== undefined && nextPageToken.length > 0 };
}
