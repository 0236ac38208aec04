/** How often the workflow of one key is signalled. Pure. */

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
