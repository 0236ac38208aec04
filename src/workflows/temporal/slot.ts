/** The one slot of an entity: Temporal's uniqueness of workflow ids is the lock. */
import type { Priority } from '@temporalio/common';
import { operationWorkflowId, type ResourceId } from '../../api/names.ts';
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

/** The operation in the slot of this entity. */
export function inSlot(): ExternalWorkflowHandle {
  return getExternalWorkflowHandle(operationWorkflowId(workflowInfo().workflowId));
}

/**
 * Starts an operation; undefined when the slot is taken: one outlived the run of the entity that started it.
 * @param how `priority`: when it is not that of the entity
 */
export async function startInSlot<W extends Workflow>(
  operation: string,
  { namespace, name }: ResourceId,
  { args, priority }: { readonly args: Parameters<W>; readonly priority?: Priority },
): Promise<{ readonly runId: string; readonly result: Promise<WorkflowResultType<W> | string> } | undefined> {
  try {
    const child = await startChild<Workflow>(operation, {
      workflowId: operationWorkflowId(workflowInfo().workflowId),
      args,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      ...(priority && { priority }),
      staticSummary: `${operation} ${namespace}/${name}`,
    });
    return { runId: child.firstExecutionRunId, result: resultOf(child, operation) };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return undefined;
  }
}

/** The result of an operation, or why it has none: it was terminated, or it failed by a fault of the operator. */
async function resultOf<W extends Workflow>(
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
