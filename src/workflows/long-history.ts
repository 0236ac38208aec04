/**
 * When a run gives way to the next one. After a restart of the operator every workflow that has something to do is replayed
 * from its first event, all of them on few cores, so histories are kept short (docs/decisions/0026-*): what a run knows and
 * the world does not say is carried over, and nothing that was accepted is lost.
 */
import { allHandlersFinished, workflowInfo } from '@temporalio/workflow';

/** Events after which a run that waits continues as new. A cold replay of them takes less than 100 ms of a processor. */
export const LONG_HISTORY = 150;
/** The same for an entity whose operation is under way: it would rather wait for the end of that. */
const LONG_BESIDE_OPERATION = 250;

/** Whether the history is so long that the run should end. */
export function isLong(): boolean {
  return isLongerThan(LONG_HISTORY);
}

/** As {@link isLong}, while an operation is under way: that outlives the run, and is followed by the next one. */
export function isLongBesideOperation(): boolean {
  return isLongerThan(LONG_BESIDE_OPERATION);
}

function isLongerThan(events: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= events || continueAsNewSuggested;
}

/** Signals to other workflows that are on their way: the server drops those of a run that ends before they are sent. */
export class Deliveries {
  #pending = 0;

  /** Counts a delivery until it is settled. True when it arrived. */
  async count(delivery: Promise<unknown>): Promise<boolean> {
    this.#pending += 1;
    try {
      await delivery;
      return true;
    } catch {
      return false;
    } finally {
      this.#pending -= 1;
    }
  }

  /** Whether a run may end: every message was answered, and everything that it sent has arrived. */
  get areDone(): boolean {
    return this.#pending === 0 && allHandlersFinished();
  }
}
