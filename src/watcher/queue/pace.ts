/** How often things may happen: the pace of one key, and the wait after failures. Pure. */

export interface Pace {
  /** The shortest time between two signals of one key, in milliseconds. */
  readonly minIntervalMs: number;
  /** What the time between two signals grows to while changes never cease. */
  readonly maxIntervalMs: number;
}

/** How much longer each interval of a key that changes without end is than the one before. */
const GROWTH = 3;
/** A key that kept still for so many intervals is quiet: it starts again at the shortest one. */
const QUIET_INTERVALS = 4;

/**
 * The interval that follows a signal of a key that had kept still for `stillMs` since the one before. The first
 * signals of a quiet key follow each other fast, which is what people wait for; those of a key that changes without
 * end come ever slower, which is what keeps a storm cheap.
 */
export function nextInterval(pace: Pace, last: { interval: number; stillMs: number }): number {
  if (last.stillMs >= QUIET_INTERVALS * last.interval) return pace.minIntervalMs;
  return Math.min(pace.maxIntervalMs, Math.max(pace.minIntervalMs, last.interval * GROWTH));
}

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The wait after the n-th failure in a row (from 1): doubling up to the maximum, of which `chance` (0..1) takes up to half. */
export function backoffMs(backoff: Backoff, failures: number, chance: number): number {
  const full = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(failures - 1, 30));
  return full * (1 - chance / 2);
}
