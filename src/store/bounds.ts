/** The two bounds of a call, the caller's signal and the deadline, as one signal; and what it means when it fires. */
import { type CallOptions, StoreError } from './port.ts';
import type { Source } from './source.ts';

/** Milliseconds of a call that moves no data, when the caller names no deadline. */
const DEFAULT_DEADLINE_MS = 60_000;

/** Milliseconds of a call that lasts as long as its data does: the longest that a timer takes. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** A call within its bounds. */
export interface Bounds {
  readonly signal: AbortSignal;
  /** The error of a call that was ended by its bounds; undefined while they hold. */
  broken(): StoreError | undefined;
  /** Stops the clock. To be called once the call is over. */
  release(): void;
}

/**
 * Starts the clock of a call.
 * @param what names the call and its object in errors, such as `putting s3://backups/a`
 * @param fallbackMs the deadline when the caller names none
 */
export function startBounds(
  what: string,
  options: CallOptions = {},
  fallbackMs = DEFAULT_DEADLINE_MS,
): Bounds {
  // A timer that is set for longer fires at once.
  const deadlineMs = Math.min(options.deadlineMs ?? fallbackMs, MAX_TIMEOUT_MS);
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(), deadlineMs);
  const signal =
    options.signal === undefined ? clock.signal : AbortSignal.any([clock.signal, options.signal]);
  return {
    signal,
    broken: () => {
      if (options.signal?.aborted) return new StoreError('aborted', `${what} was aborted`);
      if (!clock.signal.aborted) return undefined;
      return new StoreError('timeout', `${what} took longer than its deadline of ${deadlineMs} ms`);
    },
    release: () => clearTimeout(timer),
  };
}

/** A call and what it is about, for its errors. */
export interface Task {
  readonly doing: string;
  readonly key: string;
  readonly options: CallOptions;
  /** What is read meanwhile: such a call lasts as long as its data does. */
  readonly source?: Source;
}

/**
 * Does one call within its bounds.
 * @param translate says what a failure means that is neither the source's own nor the bounds'
 * @throws the source's own error as it is, else `StoreError`
 */
export async function boundedCall<T>(
  { task, location }: { readonly task: Task; readonly location: string },
  act: (bounds: Bounds) => Promise<T>,
  translate: (error: unknown, what: string) => StoreError,
): Promise<T> {
  const { doing, key, options, source } = task;
  const what = `${doing} ${location}/${key}`;
  const bounds = startBounds(what, options, source === undefined ? DEFAULT_DEADLINE_MS : MAX_TIMEOUT_MS);
  try {
    bounds.signal.throwIfAborted();
    return await act(bounds);
  } catch (error) {
    if (source?.threw(error)) throw error;
    throw bounds.broken() ?? translate(error, what);
  } finally {
    bounds.release();
  }
}

/** Resolves like the promise, but not later than the signal fires: then it rejects, and nobody waits for the promise. */
export async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // It may fail after the signal: nobody waits for it then.
  promise.catch(() => undefined);
  signal.throwIfAborted();
  let listener: (() => void) | undefined;
  const fired = new Promise<never>((_, reject) => {
    listener = () => reject(signal.reason);
    signal.addEventListener('abort', listener, { once: true });
  });
  try {
    return await Promise.race([promise, fired]);
  } finally {
    if (listener !== undefined) signal.removeEventListener('abort', listener);
  }
}

/**
 * Reads a source until the signal fires, even when the source has fallen silent. A source that is left early is notified, and
 * not waited for: it may be the one that hangs.
 */
export async function* readWithin(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  let ended = false;
  // One listener for all of the stream: making one for each chunk costs more than a chunk does.
  let give: (reason: unknown) => void = () => {};
  const fire = (): void => give(signal.reason);
  signal.addEventListener('abort', fire, { once: true });
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        give = reject;
        // It may fail after the signal: nobody waits for it then.
        iterator.next().then(resolve, reject);
        if (signal.aborted) fire();
      });
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', fire);
    if (!ended) iterator.return?.()?.then(undefined, () => {});
  }
}
