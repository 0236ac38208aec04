/**
 * The interpreter of operations. It knows nothing of etcd or Kubernetes: it has the first step of a plan performed,
 * has the world looked at again, and goes on with the plan that comes back, for as long as that is still the same
 * operation. One workflow type for each operation, so that each is found by its name; one interpreter for all.
 */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Assessment, Decision, Operation } from '../activities/index.ts';
import { operationDetails } from './details.ts';
import { type Control, controlSignal, progressSignal, type Request, type ResourceRef } from './messages.ts';
import { assess, perform } from './perform.ts';

type Operate = Extract<Decision, { kind: 'operate' }>;

export interface OperationInput {
  readonly ref: ResourceRef;
  /** The workflow id of the entity that asked. */
  readonly entity: string;
  readonly decision: Operate;
  readonly control: Control;
}

/**
 * How an operation ended. `ended`: the last pass planned no more of it (done, blocked, or something else comes first:
 * its decision says which). `handedBack`: the history grew long, the entity starts it again.
 */
export type OperationResult = {
  readonly outcome: 'ended' | 'aborted' | 'failed' | 'handedBack';
  readonly message?: string;
  readonly by?: Request;
  readonly assessment?: Assessment;
};

/** A plan whose first step the world refuses this often in a row is not getting anywhere. */
const REFUSALS = 5;
const LONG_HISTORY = 1_000;

async function interpret(input: OperationInput): Promise<OperationResult> {
  let { control } = input;
  setHandler(controlSignal, (sent: Control) => {
    control = { paused: sent.paused, abort: sent.abort ?? control.abort };
  });
  // Cancelling in the UI is asking to abort: the step under way is finished, nothing is left half done.
  CancellationScope.current().cancelRequested.catch(() => {
    control = { ...control, abort: { by: 'cancellation of the workflow' } };
  });
  return CancellationScope.nonCancellable(async () => {
    const result = await run(input, () => control);
    tellEntity(input.entity, { ...(result.assessment && { assessment: result.assessment }), ended: true });
    return result;
  });
}

async function run(input: OperationInput, control: () => Control): Promise<OperationResult> {
  let decision = input.decision;
  let assessment: Assessment | undefined;
  let refusals = 0;
  for (;;) {
    const { abort, paused } = control();
    if (abort !== undefined) return { outcome: 'aborted', by: abort, ...(assessment && { assessment }) };
    setCurrentDetails(operationDetails(decision));
    if (paused === undefined) {
      const step = await perform(input.ref, decision.step, decision.plan[0]?.summary ?? decision.step.kind);
      if (step.kind === 'failed') return { outcome: 'failed', message: step.message };
      refusals = step.kind === 'changed' ? refusals + 1 : 0;
      if (step.kind === 'changed' && refusals >= REFUSALS)
        return { outcome: 'failed', message: step.message };
    }
    assessment = await assess(input.ref, actorOf(control()), input.entity);
    const next = assessment.decision;
    if (next.kind !== 'operate' || next.operation !== input.decision.operation)
      return { outcome: 'ended', assessment };
    if (workflowInfo().historyLength > LONG_HISTORY) return { outcome: 'handedBack', assessment };
    tellEntity(input.entity, { assessment });
    decision = next;
  }
}

function actorOf({ paused }: Control): { paused?: Request } {
  return paused === undefined ? {} : { paused };
}

/** Not waited for: the entity may be gone, and nothing here depends on it. */
function tellEntity(entity: string, progress: { assessment?: Assessment; ended?: boolean }): void {
  getExternalWorkflowHandle(entity)
    .signal(progressSignal, progress)
    .catch(() => undefined);
}

/** Creates a cluster, from its recorded incarnation to an open client Service. */
export async function createCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Puts back what went missing: Services, the budget, pods of members whose volumes are there. */
export async function repairCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Takes a cluster down: pods, then claims as `storage.retain` says, then the finalizer. */
export async function deleteCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** The workflow types above, by operation. */
export const OPERATION_WORKFLOWS: Record<Operation, typeof createCluster> = {
  createCluster,
  repairCluster,
  deleteCluster,
};
