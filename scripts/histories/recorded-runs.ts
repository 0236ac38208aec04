/** The histories of all runs of a workflow, so that one that continued as new is recorded whole. */
import type { Client, WorkflowHandle } from '@temporalio/client';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/** Which runs were handed out already. */
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
      const history: History = await run.fetchHistory();
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
