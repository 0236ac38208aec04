import type { WorkflowState } from '../model/workflow-state.ts';
import type { ClusterFacts } from '../model/observation.ts';

/**
 * The abort that holds for this operation, or undefined when nobody aborted it: it is one of the same operation, about the same thing,
 * and the specification has not changed since. `subject`: as the decision says, or what the operation is known to have been about.
 */
export function abortOf(
  {
    workflowState,
    cluster,
  }: { readonly workflowState: WorkflowState; readonly cluster: Pick<ClusterFacts, 'generation'> },
  { operation, subject }: { readonly operation: string; readonly subject?: string | undefined },
): WorkflowState['aborted'] {
  const { aborted } = workflowState;
  if (aborted?.operation !== operation || aborted.subject !== subject) return undefined;
  return aborted.generation === cluster.generation ? aborted : undefined;
}
