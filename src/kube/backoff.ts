import { setTimeout as delay } from 'node:timers/promises';

/** A growing wait between attempts, in milliseconds. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * The wait before the next attempt: doubled with every failure up to the maximum, and drawn from its upper half,
 * so that clients that failed together do not come back together.
 *
 * @param failures how many attempts have failed in a row, at least 1
 * @param retryAfterMs what the server asked for; never undercut, but capped at five minutes
 */
export function backoffDelay(backoff: Backoff, failures: number, retryAfterMs = 0): number {
  const whole = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(failures - 1, 30));
  const jittered = whole / 2 + (Math.random() * whole) / 2;
  const asked = Math.min(retryAfterMs, longestRetryAfterMs);
  return Math.max(jittered, asked + Math.random() * Math.min(asked, backoff.baseMs));
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
