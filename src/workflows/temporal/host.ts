/** Temporal as the host of the loops: its clock, timers and history. */
import { allHandlersFinished, CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import type { Host } from '../host.ts';

/**
 * Events after which a run that waits continues as new: after a restart of the operator every workflow that has something to do is replayed
 * from its first event, all of them on few cores (docs/decisions/0027-histories-are-short.md). What a run knows and the world does not say is carried over.
 */
export const LONG_HISTORY = 60;
/** The same for what has work under way: an operation, which is handed back, and the workflow of the resource beside it. */
const VERY_LONG_HISTORY = 150;

/** What Temporal's UI shows beside the timer, which otherwise has a number alone. */
const NEXT_PASS = 'next reconciliation, if nothing changes before';

export const temporalHost: Host = {
  now: () => Date.now(),
  history() {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (historyLength >= VERY_LONG_HISTORY || continueAsNewSuggested) return 'veryLong';
    return historyLength >= LONG_HISTORY ? 'long' : 'short';
  },
  isEachAnswered: allHandlersFinished,
  async wait(is, until) {
    if (is()) return;
    if (until === undefined) await condition(is);
    else await condition(is, Math.max(1, until - Date.now()), { summary: NEXT_PASS });
  },
};

/** Runs a workflow that its cancellation does not end. @param cancelled what the cancellation means instead */
export function uncancelled<T>(cancelled: () => void, run: () => Promise<T>): Promise<T> {
  CancellationScope.current().cancelRequested.catch(cancelled);
  return CancellationScope.nonCancellable(run);
}
