/** Waiting inside an activity: Temporal's timers are a second coarse, and waiting here costs no history. */
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';

/** What passes between two looks: the shorter where looking is quick, and never more than the longer. */
const INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 1_000;
/** The pause before the next check is so many times what the last one took: many waits at once must not keep a busy machine busy. */
const REST = 3;
/** How long a wait polls before it returns to the planner. */
const WINDOW_MS = 10_000;

/** How a wait ended: as hoped for, with something in the way that waiting does not fix, or not yet. */
export type WaitOutcome = 'done' | 'trouble' | 'notYet';

/** The time that waits pass: real, or a simulation's, which waiting costs nothing. */
export interface WaitTime {
  /** Milliseconds since any fixed moment; never goes back. */
  readonly now: () => number;
  /** Resolves after `ms` milliseconds; rejects when `signal` is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const realTime: WaitTime = {
  now: () => performance.now(),
  pause: (ms, signal) => delay(ms, undefined, { signal }),
};

/**
 * Calls `look` again and again until it answers `done` or `trouble`, for ten seconds at most. An error of one call is a
 * look that saw nothing. Throws when the activity is cancelled.
 */
export async function waitUntil(
  { time }: { readonly time: WaitTime },
  look: () => Promise<WaitOutcome>,
): Promise<WaitOutcome> {
  const { cancellationSignal } = Context.current();
  const end = time.now() + WINDOW_MS;
  let lastError: Error | undefined;
  while (time.now() < end) {
    const begun = time.now();
    try {
      const outcome = await look();
      lastError = undefined;
      if (outcome !== 'notYet') return outcome;
    } catch (error) {
      lastError = error instanceof Error ? error : new Error(String(error));
    }
    const rest = REST * (time.now() - begun);
    await time.pause(Math.min(Math.max(INTERVAL_MS, rest), LONGEST_INTERVAL_MS), cancellationSignal);
  }
  if (lastError !== undefined) throw lastError;
  return 'notYet';
}
