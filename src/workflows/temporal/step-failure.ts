/** Why an activity failed, in words for users. */
import { type ActivityFailure, rootCause, TimeoutFailure } from '@temporalio/common';

/** A failure as the server sends it; the SDK keeps it beside the error that it makes of it. */
interface Sent {
  readonly message?: string | null;
  readonly cause?: Sent | null;
}

/**
 * The message about an activity that failed, for users: that of its last attempt which reported an error. When time runs out the server
 * reports the limit, and that error only as the cause, which the SDK keeps nowhere but in the failure as it was sent.
 * @param seconds how long all attempts together might take
 */
export function messageOfFailure(error: ActivityFailure, seconds: number): string {
  const { cause, message } = error;
  if (!(cause instanceof TimeoutFailure)) return rootCause(cause) ?? message;
  const reported = innermost(cause.failure?.cause);
  const limit = `within its time of ${seconds} s`;
  return reported === undefined
    ? `it did not end ${limit}, and no attempt reported an error: ${UNREPORTED}`
    : `${reported} (the attempt after this error did not end ${limit})`;
}

const UNREPORTED =
  'the replica that performed it stopped or had no CPU time, or what it asked did not answer; see the logs of the operator';

function innermost(sent: Sent | null | undefined): string | undefined {
  return sent ? (innermost(sent.cause) ?? (sent.message || undefined)) : undefined;
}
