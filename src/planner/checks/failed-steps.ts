/**
 * Steps that failed and that nothing else depends on: where the labels of a pod may not be changed, or a budget may not be made (an
 * admission webhook or a quota refuses it), members can be started and lost ones replaced all the same. What comes after such a step
 * is not held up until it is tried again.
 */
import type { Decision } from '../model/decision.ts';
import { traitsOf } from '../model/step-catalogue.ts';
import type { WorkflowState } from '../model/workflow-state.ts';

type Work = Pick<Extract<Decision, { kind: 'operate' }>, 'operation' | 'step'>;

/** Whether this very step failed lately, and others continue without it. */
export function isSkipped({ failed }: WorkflowState, { operation, step }: Work): boolean {
  return failed?.operation === operation && failed.step === step.kind && isNonBlockingFailure({ failed });
}

/** Whether what failed lately is something that nothing depends on. */
export function isNonBlockingFailure({ failed }: Pick<WorkflowState, 'failed'>): boolean {
  const { isolated } = traitsOf(failed?.step ?? '') ?? {};
  return isolated === 'always' || (isolated !== undefined && isolated === failed?.operation);
}

/** Whether this step waits for its back-off: it failed itself, or a step of its operation that others depend on did. */
export function hasFailed({ failed }: WorkflowState, { operation, step }: Work): boolean {
  if (failed?.operation !== operation) return false;
  return failed.step === step.kind || !isNonBlockingFailure({ failed });
}
