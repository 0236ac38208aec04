/** Failures of activities, with their retry intent. Translated here once, at the boundary to Temporal. */
import { ApplicationFailure } from '@temporalio/activity';
import { KubeError } from '../kube/errors.ts';

/** The type of a failure that leads to a new plan instead of a retry. */
export const PRECONDITION_CHANGED = 'PreconditionChanged';

/** The world is not as it was planned for: not retried, the planner looks again. */
export function preconditionChanged(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, PRECONDITION_CHANGED);
}

/**
 * What an error of a port means to Temporal: lost races lead to a new plan, refusals (RBAC, quota, admission, schema)
 * are shown to people instead of being hidden in retries, everything else is tried again.
 */
export function asFailure(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const { reason, message } = error;
  if (error.code === 409) return preconditionChanged(message);
  return ApplicationFailure.create({ message, type: reason, nonRetryable: error.retry === 'never' });
}
