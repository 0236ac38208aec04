import type { Backoff } from '../api/values/backoff.ts';
import { backoffDelay, pause } from './backoff.ts';
import { KubeError } from './errors.ts';

export interface RetryPolicy {
  readonly backoff: Backoff;
  /** Attempts in all, the first included. */
  readonly attempts: number;
}

export interface RetriedCall {
  readonly policy: RetryPolicy;
  /** Whether a second attempt is harmless when the first one may have taken effect. */
  readonly idempotent: boolean;
  /** Ends the waits between attempts; normally the deadline of the call. */
  readonly signal: AbortSignal;
  readonly onRetry?: ((error: KubeError, delayMs: number) => void) | undefined;
}

/**
 * Repeats a call that failed for a passing reason: no answer, 429, 5xx, or once a 401, since a token may just
 * have been renewed. A call that is not idempotent is repeated only when it certainly had no effect.
 *
 * @throws KubeError of the last attempt
 */
export async function withRetries<T>(run: () => Promise<T>, call: RetriedCall): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (
        !(error instanceof KubeError) ||
        attempt >= call.policy.attempts ||
        !isPassing(error, call, attempt)
      )
        throw error;
      const delayMs = error.code === 401 ? 0 : backoffDelay(call.policy.backoff, attempt, error.retryAfterMs);
      call.onRetry?.(error, delayMs);
      if (!(await pause(delayMs, call.signal))) throw error;
    }
  }
}

function isPassing(error: KubeError, call: RetriedCall, attempt: number): boolean {
  if (call.signal.aborted || !(call.idempotent || error.notProcessed)) return false;
  if (error.code === 401) return attempt === 1;
  if (error.code === 429) return !isRefusedEviction(error);
  return error.code === 0 ? networkReasons.has(error.reason) : error.code >= 500;
}

const networkReasons = new Set(['NetworkError', 'Timeout', 'Credentials', 'BadResponse']);

/** A disruption budget's 429 is an answer, not an overload: the caller decides when to ask again. */
function isRefusedEviction(error: KubeError): boolean {
  return error.causes.some(cause => cause.reason === 'DisruptionBudget');
}
