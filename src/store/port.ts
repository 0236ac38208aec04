/**
 * The store port: where backups lie, in our own types. A store is one bucket (container, folder of a volume); its objects
 * are named by keys within it. Adapters translate, they do not decide. What the stores have in common is promised here and
 * held by one contract suite that runs against every adapter.
 */

/** Bounds of one call; every call has them. */
export interface CallOptions {
  /** Ends the call with `aborted`, at once, leaving nothing behind that can be cleaned. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the whole call; then it fails with `timeout`. Absent: 60 s, and for `put` and `get` no limit on the
   * whole, since they last as long as their data does. A store that falls silent is given up in any case.
   */
  readonly deadlineMs?: number | undefined;
}

/** What a store says of an object. */
export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** When it appeared, by the store's clock: ISO 8601, UTC. */
  readonly modifiedAt: string;
  /** Who wrote it, as passed to its `put`. Only `head` knows; undefined also if nothing was passed. */
  readonly writer?: string | undefined;
}

export interface PutOptions extends CallOptions {
  /**
   * Who writes: kept with the object from the moment that it appears, so that a writer that was killed knows its own. Letters,
   * digits and hyphens, 128 at most.
   */
  readonly writer?: string | undefined;
}

export interface GetOptions extends CallOptions {
  /** The first byte that is wanted; default 0. The object's size is allowed and gives nothing. */
  readonly offset?: number | undefined;
  /** The reader is done with a chunk when it asks for the next: its memory may then be written to again. */
  readonly transient?: true | undefined;
}

export interface CleaningOptions extends CallOptions {
  readonly olderThanMs: number;
  /** Only uploads whose keys it matches; others below the prefix are somebody else's. Absent: all. Flags do not count. */
  readonly matching?: RegExp | undefined;
}

export interface ObjectContent {
  /** Bytes of the whole object, whatever the offset. */
  readonly size: number;
  /**
   * The bytes from the offset on, read once. Ending the loop early frees the connection. What breaks in the middle is thrown
   * out of the loop as a `StoreError`: count what came, and get again from there.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** One store, opened. A failed call throws `StoreError`. */
export interface Store {
  /** Where objects are, for users: `s3://bucket`, `file:/mnt/backups`. Holds no secret. */
  readonly location: string;

  /**
   * Writes a new object from a stream of unknown length. It appears whole or not at all, and never takes the place of one
   * that is there (`exists`). A source that throws, an abort and a deadline leave no object and, where the store is
   * reachable, no parts; the source's own error is thrown as it is. At most a few parts of 8 MiB are in memory at a time.
   */
  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<{ readonly size: number }>;

  /** Opens an object for reading. Fails with `not-found` when there is none. */
  get(key: string, options?: GetOptions): Promise<ObjectContent>;

  /** What the store says of an object, or undefined when there is none. */
  head(key: string, options?: CallOptions): Promise<StoredObject | undefined>;

  /** All objects whose keys start with the prefix, in the order of their keys' bytes; read page by page. */
  list(prefix: string, options?: CallOptions): AsyncIterable<StoredObject>;

  /** Deletes an object; one that is not there is deleted already. */
  delete(key: string, options?: CallOptions): Promise<void>;

  /**
   * Frees what writers that were killed have left: parts of uploads that were begun longer ago than `olderThanMs` and whose
   * keys start with the prefix. Stores that forget such parts by themselves have nothing to do. Resolves to how many uploads.
   */
  removeUnfinished(prefix: string, options: CleaningOptions): Promise<number>;

  /** Closes connections. */
  close(): Promise<void>;
}

/**
 * Why a call failed, by what helps:
 * - to be tried again: `unavailable` (no connection, a 5xx or 429 answer, a connection that broke), `timeout` (silence, or the
 *   deadline);
 * - `denied`: credentials are missing, wrong, expired, or lack a right; `no-bucket`: the bucket, container or volume is not
 *   there; `invalid`: the resource or its Secret cannot be understood; `skew`: this machine's clock and the store's differ;
 * - `full`: a quota or the volume is used up;
 * - `locked`: the store lets nobody delete the object yet (object lock, a retention policy, a hold);
 * - `exists`: there is an object of that key; `not-found`: there is none;
 * - `aborted`: the caller's signal; `other`: anything else, in the store's words.
 */
export type StoreErrorCode =
  | 'unavailable'
  | 'timeout'
  | 'denied'
  | 'no-bucket'
  | 'invalid'
  | 'skew'
  | 'locked'
  | 'full'
  | 'exists'
  | 'not-found'
  | 'aborted'
  | 'other';

/**
 * The one error of this folder. It holds no request, response or error of a library, so that printing it can never print a
 * key or a token.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** Whether the same call may succeed later though nobody changes anything. */
  get retry(): boolean {
    return this.code === 'unavailable' || this.code === 'timeout';
  }
}
