/** The one slot of an entity: Temporal's uniqueness of workflow ids is the lock. */
import {
  WorkflowExecutionAlreadyStartedError,
  type Workflow,
  type WorkflowResultType,
} from '@temporalio/common';
import {
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  type ExternalWorkflowHandle,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  rootCause,
  startChild,
  TerminatedFailure,
  workflowInfo,
} from '@temporalio/workflow';

/** The id of the one operation of an entity. */
function slotOf(entity: string): string {
  return `${entity}/operation`;
}

/** Whoever is in the slot of this entity. */
export function inSlot(): ExternalWorkflowHandle {
  return getExternalWorkflowHandle(slotOf(workflowInfo().workflowId));
}

/** Starts an operation; undefined when the slot is taken: one outlived the run of the entity that started it. */
export async function startInSlot<W extends Workflow>(
  workflow: W,
  { args, summary }: { readonly args: Parameters<W>; readonly summary: string },
): Promise<ChildWorkflowHandle<W> | undefined> {
  try {
    return await startChild<Workflow>(workflow, {
      workflowId: slotOf(workflowInfo().workflowId),
      args,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      // What is under way goes on before anything that may wait is looked at.
      priority: { priorityKey: 1 },
      staticSummary: summary,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return undefined;
  }
}

/** The result of an operation, or why it has none: people terminated it, or a fault of ours ended it. */
export async function resultOf<W extends Workflow>(
  child: ChildWorkflowHandle<W>,
  operation: string,
): Promise<WorkflowResultType<W> | string> {
  try {
    return await child.result();
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const { cause } = error;
    const why =
      cause instanceof TerminatedFailure ? 'it was terminated' : (rootCause(error) ?? error.message);
    return `the workflow of ${operation} ended without a result: ${why}`;
  }
}
