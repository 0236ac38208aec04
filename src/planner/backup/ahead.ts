/** Times that a clock has shown which was ahead, and was put right since. Pure. */

/** Replicas differ by seconds. */
const SKEW_MS = 5 * 60_000;

/** Whether a time is so much later than now that it stands for nothing that was done by now. Milliseconds since the epoch. */
export function isAhead(at: number, now: number): boolean {
  return at > now + SKEW_MS;
}
