/** How long to wait between attempts. Pure. */

/** A growing wait, in milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The wait after the n-th failure in a row (from 1), in milliseconds: doubled with every failure up to the maximum. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
}

/**
 * As {@link backoffMs}, less up to half of it, so that clients that failed together do not come back together.
 * @param chance of 0 to 1; 0: the whole wait
 */
export function jitteredBackoffMs(backoff: Backoff, failures: number, chance: number): number {
  return backoffMs(backoff, failures) * (1 - chance / 2);
}
