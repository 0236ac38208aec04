/** What users can do to a workflow, done to the very run that is meant, and made sure of: a run that had ended was not struck. */
import type { Client } from '@temporalio/client';
import type { World } from '../e2e.ts';
import { poll } from '../poll.ts';

export type Verb = 'terminate' | 'cancel' | 'reset';

/** Everything that can be done, and to which of a resource's two workflows. */
export const STRIKES = (['operation', 'entity'] as const).flatMap(on =>
  (['terminate', 'cancel', 'reset'] as const).map(verb => ({ verb, on })),
);

export interface Struck {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Terminates, cancels or resets (to its last workflow task) a run.
 * @throws when that run had ended, so that nothing came of it. Temporal itself says so of a termination only: a cancellation of
 *   a workflow that is over succeeds and does nothing, and a reset of one begins it again.
 */
export async function strike(
  world: World,
  client: Client,
  { workflowId, runId, verb }: Struck & { readonly verb: Verb },
): Promise<void> {
  const run = client.workflow.getHandle(workflowId, runId);
  const reset = ['workflow', 'reset', '-w', workflowId, '-r', runId, '--type', 'LastWorkflowTask'];
  if (verb === 'terminate') await run.terminate('drill');
  else if (verb === 'cancel') await run.cancel();
  else await world.temporal(...reset, '--reason', 'drill');
  const isHit =
    verb === 'cancel' ? await wasCancelled(run) : (await run.describe()).status.name === 'TERMINATED';
  if (!isHit) throw new Error(`${workflowId} (${runId}) had ended before the drill could ${verb} it`);
}

/** The request shows in the history at the end of the workflow task that is under way, and so at the latest when the run ends. */
async function wasCancelled(run: ReturnType<Client['workflow']['getHandle']>): Promise<boolean> {
  return poll(async () => {
    const { status } = await run.describe();
    const { events } = await run.fetchHistory();
    const isAsked = (events ?? []).some(event => event.workflowExecutionCancelRequestedEventAttributes);
    return isAsked || status.name !== 'RUNNING' ? { isAsked } : undefined;
  }).then(({ isAsked }) => isAsked);
}
