import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, jitteredBackoffMs } from '../api/values/backoff.ts';

/**
 * The wait before the next attempt: doubled with every failure up to the maximum, and drawn from its upper half,
 * so that clients that failed together do not come back together.
 *
 * @param failures how many attempts have failed in a row, at least 1
 * @param retryAfterMs what the server asked for; never undercut, but capped at five minutes
 */
export function backoffDelay(backoff: Backoff, failures: number, retryAfterMs = 0): number {
  const jittered = jitteredBackoffMs(backoff, failures, Math.random());
  const asked = Math.min(retryAfterMs, longestRetryAfterMs);
  return Math.max(jittered, asked + Math.random() * Math.min(asked, backoff.firstMs));
}

const longestRetryAfterMs = 300_000;

/** Waits; false when the signal cut the wait short. */
export async function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
    return true;
  } catch {
    return false;
  }
}
