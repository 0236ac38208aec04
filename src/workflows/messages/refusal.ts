/** The refusal of an update. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { FailureType } from '../../api/failures.ts';

/** Refuses an update: the caller reads why, and the workflow goes on. */
export function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'Refused' satisfies FailureType);
}
