/** Waiting: for something that is not there yet, and for something that should never happen. */
import { setTimeout as pause } from 'node:timers/promises';

export interface RetryOptions {
  /** Ends the waiting: the returned promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Milliseconds before the second try; doubled each time up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Called with each failure and the wait that follows. What it throws ends the waiting. */
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

/** A promise that rejects when `fail` is first called, and else stays open. Nobody has to listen to it. */
export function failure(): { readonly failed: Promise<never>; readonly fail: (error: unknown) => void } {
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  return { failed, fail };
}
