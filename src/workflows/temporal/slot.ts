/** The slot of a resource in Temporal: the uniqueness of workflow ids is the lock. */
import {
  type Priority,
  WorkflowExecutionAlreadyStartedError,
  type Workflow,
  type WorkflowResultType,
} from '@temporalio/common';
import {
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  rootCause,
  setHandler,
  startChild,
  TerminatedFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { operationWorkflowId, type ResourceId } from '../../api/names.ts';
import { endedSignal, followSignal, handOverSignal } from '../messages/operation.ts';
import { abortSignal } from '../messages/resource.ts';
import { requestFrom } from '../messages/text.ts';
import { abortOperation, type Asked } from '../operation.ts';
import type { Ask } from '../slot.ts';
import { generationOfRun } from './generation.ts';

/** Asks the operation in the slot of this resource for something. False: there is none. */
export async function askOperation(ask: Ask): Promise<boolean> {
  const operation = getExternalWorkflowHandle(operationWorkflowId(workflowInfo().workflowId));
  const sent =
    ask.kind === 'abort'
      ? operation.signal(abortSignal, ask.request)
      : operation.signal(ask.kind === 'follow' ? followSignal : handOverSignal);
  return sent.then(
    () => true,
    () => false,
  );
}

/** Registers the handlers of what an operation is asked for. */
export function handleAsks(asked: Asked): void {
  setHandler(abortSignal, sent => abortOperation(asked, requestFrom(sent)), {
    description: 'end: {"by": "…", "reason": "…"}',
  });
  setHandler(handOverSignal, () => void (asked.handOver = true), {
    description:
      'end after the step under way: a person asked for something (sent by the workflow of the resource)',
  });
  setHandler(followSignal, () => void (asked.follow = true), {
    description:
      'report the end (sent by a run of the workflow of the resource that has not started this one)',
  });
}

/** Reports the end of an operation to the run of the resource's workflow that follows it, if one does. */
export async function reportEnd(entity: string, { follow }: Asked, ending: object): Promise<void> {
  // Waited for: the server drops a signal of a workflow that completes with the same task.
  if (follow)
    await getExternalWorkflowHandle(entity)
      .signal(endedSignal, ending)
      .catch(() => undefined);
}

/**
 * Starts an operation; undefined when the slot is taken: one outlived the run that started it.
 * @param how `priority`: when it is not that of the resource's workflow; `slot`: the id of the workflow, when it is not that of operations
 */
export async function startInSlot<W extends Workflow>(
  operation: string,
  { namespace, name }: ResourceId,
  {
    args,
    priority,
    slot = operationWorkflowId(workflowInfo().workflowId),
  }: { readonly args: Parameters<W>; readonly priority?: Priority; readonly slot?: string },
): Promise<{ readonly runId: string; readonly result: Promise<WorkflowResultType<W> | string> } | undefined> {
  try {
    const child = await startChild<Workflow>(operation, {
      workflowId: slot,
      args,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      ...(priority && { priority }),
      staticSummary: `${operation} ${namespace}/${name}`,
      typedSearchAttributes: generationOfRun(),
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
