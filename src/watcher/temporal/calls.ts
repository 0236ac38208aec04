/** Calls to Temporal that end: by their deadline, or when their caller gives up. */
import type { Client } from '@temporalio/client';

export type Call = <T>(abort: AbortSignal, run: (client: Client) => Promise<T>) => Promise<T>;

/**
 * @param current asked anew for each call
 * @param deadlineMs of one call, the library's own retries included
 */
export function callsOf(current: () => Client, deadlineMs: number): Call {
  return (abort, run) => {
    const client = current();
    return client.withDeadline(Date.now() + deadlineMs, () =>
      untilAborted(abort, signal => client.withAbortSignal(signal, () => run(client))),
    );
  };
}

/**
 * Runs with a signal of its own that follows `abort` until the end of `run`. The client listens to the signal that it is given for as long as
 * that lives (@temporalio/client, connection.ts): on one that outlives the call, everything that a call holds would be kept with it.
 */
async function untilAborted<T>(abort: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const follow = (): void => own.abort(abort.reason);
  if (abort.aborted) follow();
  abort.addEventListener('abort', follow, { once: true });
  try {
    return await run(own.signal);
  } finally {
    abort.removeEventListener('abort', follow);
  }
}
