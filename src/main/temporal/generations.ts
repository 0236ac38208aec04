/** Runs of another generation of the workflows' code (api/values/engine-generation.ts) are terminated: this operator begins them again. */
import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { GENERATION_ATTRIBUTE } from '../../api/values/engine-generation.ts';

export interface GenerationOptions {
  readonly taskQueue: string;
  readonly generation: number;
  /** Ends it: what is left belongs to another replica then. */
  readonly signal?: AbortSignal;
  /** Between two listings. */
  readonly pause: () => Promise<void>;
}

/** The list of running workflows lags behind by about a second. */
const MOST_LISTINGS = 30;

/**
 * Terminates every run of another generation, and resolves when none is listed any more. Answers how many there were.
 * @throws Error when some are still listed in the end, the reason of the signal, and what Temporal's client throws
 */
export async function terminateOtherGenerations(
  client: Client,
  { taskQueue, generation, signal, pause }: GenerationOptions,
): Promise<number> {
  const isOther = `(${GENERATION_ATTRIBUTE} IS NULL OR ${GENERATION_ATTRIBUTE} != ${generation})`;
  const query = `TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running" AND ${isOther}`;
  const terminated = new Set<string>();
  for (let listing = 0; listing < MOST_LISTINGS; listing += 1) {
    const runs: { readonly workflowId: string; readonly runId: string }[] = [];
    for await (const { workflowId, runId } of client.workflow.list({ query }))
      runs.push({ workflowId, runId });
    if (runs.length === 0) return terminated.size;
    // Those of resources first: they would begin another operation in place of one that ends.
    for (const { workflowId, runId } of runs.toSorted((a, b) => a.workflowId.length - b.workflowId.length)) {
      signal?.throwIfAborted();
      terminated.add(runId);
      await terminate(client.workflow.getHandle(workflowId, runId), generation);
    }
    await pause();
  }
  throw new Error(`workflows of another generation than ${generation} are still running`);
}

async function terminate(run: WorkflowHandle, generation: number): Promise<void> {
  try {
    await run.terminate(`an operator with generation ${generation} of the workflows begins it anew`);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
