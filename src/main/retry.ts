/** Waiting for something that is not there yet. */
import { setTimeout as pause } from 'node:timers/promises';

export interface RetryOptions {
  /** Ends the waiting: the returned promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Milliseconds before the second try; doubled each time up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Told of each failure and of the wait that follows. What it throws ends the waiting. */
  readonly onFailure: (error: unknown, waitMs: number) => void;
}

/** Calls `run` until it succeeds. */
export async function retryUntilDone<T>(run: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let waitMs = options.firstMs; ; waitMs = Math.min(waitMs * 2, options.maxMs)) {
    options.signal.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      options.onFailure(error, waitMs);
    }
    await pause(waitMs, undefined, { signal: options.signal });
  }
}
