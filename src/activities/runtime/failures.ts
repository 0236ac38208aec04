/** Failures of activities, with their retry intent. Translated here once, at the boundary to Temporal. */
import { ApplicationFailure } from '@temporalio/activity';
import type { FailureType } from '../../api/failures.ts';
import { KubeError } from '../../kube/errors.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { withWayOn } from './refusal.ts';

/** A failure that no retry fixes. */
export function finalFailure(type: FailureType, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type);
}

/** The world is not as it was planned for: not retried, the planner looks again. */
export function preconditionChanged(message: string): ApplicationFailure {
  return finalFailure('PreconditionChanged', message);
}

/** HTTP codes by which the API server says that the same request will be refused again: schema, rights, quota. */
const REFUSALS = [400, 403, 422];

/** Whether the API server will refuse the same request again. */
export function isRefusal(error: unknown): boolean {
  return error instanceof KubeError && REFUSALS.includes(error.code);
}

/**
 * What an error of a step means to Temporal: lost races lead to a new plan, refusals are shown to users with what to do instead of
 * being hidden in retries, everything else is tried again.
 */
export function stepFailure(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const { reason, message, code } = error;
  // What was to be changed is another one by now (409), or gone (404).
  if (code === 409 || code === 404) return preconditionChanged(message);
  const nonRetryable = error.retry === 'never' || REFUSALS.includes(code);
  return ApplicationFailure.create({
    message: isRefusal(error) ? withWayOn(message) : message,
    type: reason,
    nonRetryable,
  });
}

/**
 * What an error of a pass means to Temporal: always to be tried again. A pass that gave up would end the entity's
 * workflow, and the cluster would not be reconciled until the watcher's next check.
 */
export function passFailure(error: unknown): unknown {
  const message = messageOf(error);
  const type = error instanceof KubeError ? error.reason : ('PassFailed' satisfies FailureType);
  return ApplicationFailure.create({
    message,
    type,
    nonRetryable: false,
    ...(error instanceof Error && { cause: error }),
  });
}
