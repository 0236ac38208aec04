/** The operations of clusters: one interpreter for all (engine/operation-reducer.ts). */
import type { ResourceId } from '../../api/names.ts';
import {
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Assessment, Decision } from '../../activities/index.ts';
import { priorityOfOperation } from '../../api/values/priority.ts';
import type { Outcome } from '../engine/operation.ts';
import { assess, perform } from '../temporal/activities.ts';
import { OperationDriver } from '../temporal/operation-driver.ts';
import {
  type Control,
  controlSignal,
  type Ending,
  type Progress,
  progressSignal,
} from '../messages/cluster.ts';
import { isAssessment, isControl } from '../messages/shapes.ts';
import { planDetails } from './details.ts';
import { type ClusterOperation, operationRules } from './operation-rules.ts';

export interface OperationInput {
  readonly ref: ResourceId;
  /** The workflow id of the entity that asked. */
  readonly entity: string;
  readonly decision: Extract<Decision, { kind: 'operate' }>;
  readonly control: Control;
}

/** How it ended, and what the last pass saw, if there was one. */
export type OperationResult = Ending & { readonly assessment?: Assessment };

/**
 * Performs an operation. The type of its workflow is the name of the operation, by which people find it in Temporal; no type is
 * registered (index.ts), so that an operation needs nothing here.
 * @throws Error for any other type: the task is tried again, by a worker of a release that has it
 */
export async function performOperation(input: OperationInput): Promise<OperationResult> {
  const { workflowType, runId } = workflowInfo();
  if (input?.decision?.operation !== workflowType)
    throw new Error(`${workflowType} is neither a workflow of this release nor the operation of its input`);
  const { ref, entity, decision, control } = input;
  const { operation } = decision;
  const report = reporter(entity);
  const endOf = (outcome: Outcome): Ending => ({ operation, runId, ...outcome });
  const driver = new OperationDriver<ClusterOperation>(
    operationRules,
    { decision, control },
    {
      look: actor =>
        assess('assess', { ref, entity, actor: { ...actor, ran: { operation, runId } } }, isAssessment),
      perform: now => {
        setCurrentDetails(planDetails(now));
        // A repair of shared objects may go on with members, and the reverse.
        return perform(ref, { ...now, priority: priorityOfOperation(now) }, operationRules.summary(now));
      },
      report: (assessment, used) => report({ assessment, ...(used.length > 0 && { used }) }),
      // Waited for: the server drops a signal of a workflow that completes with the same task.
      finish: ({ assessment, used }, outcome) =>
        signalEntity(entity, {
          ...(assessment && { assessment }),
          ending: endOf(outcome),
          ...(used.length > 0 && { used }),
        }),
    },
  );
  setHandler(controlSignal, sent => {
    if (isControl(sent)) driver.setControl(sent);
    else log.warn('a signal was rejected: only entities may send it', { signal: 'control' });
  });
  const { assessment, outcome } = await driver.run();
  return { ...endOf(outcome), ...(assessment && { assessment }) };
}

/** Reports progress to the entity, unless it has not changed: a step that waits leads to many passes. */
function reporter(entity: string): (progress: Progress) => void {
  let reported = '';
  return progress => {
    const now = JSON.stringify(progress);
    if (now !== reported) void signalEntity(entity, progress);
    reported = now;
  };
}

/** Never rejects: the entity may be gone, and nothing here depends on it. */
function signalEntity(entity: string, progress: Progress): Promise<void> {
  return getExternalWorkflowHandle(entity)
    .signal(progressSignal, progress)
    .catch(() => undefined);
}
