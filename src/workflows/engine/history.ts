/**
 * When a run continues as new. After a restart of the operator every workflow that has something to do is replayed
 * from its first event, all of them on few cores, so histories are kept short (docs/decisions/0026-*): what a run knows and
 * the world does not say is carried over, and nothing that was accepted is lost.
 */
import type { Facts } from './machine.ts';

/**
 * Events after which a run that waits continues as new. A replay goes through every task of the history once more, and on a busy
 * operator each takes as long as its event loop: with 110 events and a fifth of a processor the ten seconds of a task were too few.
 */
export const LONG_HISTORY = 60;
/** The same for what has work under way: an operation, which is handed back, and an entity beside it. */
const VERY_LONG_HISTORY = 150;

/** How long the history of a run is. */
export function historyOf(run: {
  readonly historyLength: number;
  readonly continueAsNewSuggested: boolean;
}): Facts['history'] {
  if (run.historyLength >= VERY_LONG_HISTORY || run.continueAsNewSuggested) return 'veryLong';
  return run.historyLength >= LONG_HISTORY ? 'long' : 'short';
}
