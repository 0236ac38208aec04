/** The histories of all runs of a workflow, so that one that continued as new is recorded whole. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { until } from '../../test/worlds/workflow-bench.ts';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/** Which runs were handed out already. */
/** A run that continues another begins with its first task a moment later: a history without one cannot be replayed. */
async function begunHistory(run: WorkflowHandle): Promise<History> {
  let history: History = {};
  await until(async () => {
    history = await run.fetchHistory();
    return history.events?.some(event => event.workflowTaskCompletedEventAttributes) === true;
  });
  return history;
}

export class RecordedRuns {
  readonly #client: Client;
  readonly #seen = new Set<string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** The history of a run and of the runs that it continues, the last one first, down to one that was handed out before. */
  async of(handle: WorkflowHandle): Promise<History[]> {
    const histories: History[] = [];
    for (let run: WorkflowHandle | undefined = handle; run !== undefined; ) {
      const history = await begunHistory(run);
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      const runId = started?.originalExecutionRunId ?? '';
      if (this.#seen.has(runId)) break;
      this.#seen.add(runId);
      histories.push(history);
      const before = started?.continuedExecutionRunId;
      run = before ? this.#client.workflow.getHandle(handle.workflowId, before) : undefined;
    }
    return histories;
  }
}
