/**
 * What a client of a drill did and what it was answered, for the checker. Times are milliseconds of one clock
 * (performance.now()); revisions are etcd's, and small enough here to be numbers.
 */

/** One put. Values are unique, so a value names its write. */
export interface Write {
  readonly id: number;
  readonly key: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** `unknown`: an error came back. It may have happened all the same, also later. */
  readonly outcome: 'ok' | 'unknown';
  /** The revision that it was acknowledged with; undefined when unknown. */
  readonly revision: number | undefined;
  /** What was said instead of an acknowledgement. */
  readonly error?: string;
  /** The id of the write that failed and that this one is tried again for, under a value of its own. */
  readonly insteadOf?: number;
}

/** One linearizable read of one key that was answered. */
export interface Read {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** Of the store, when it was read. */
  readonly revision: number;
  /** Undefined: there was no such key. */
  readonly value: string | undefined;
}

export interface History {
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
  /** When the client began and ended. */
  readonly begin: number;
  readonly end: number;
  /** When the client itself stood still, because its process or its machine had other things to do. */
  readonly standstills?: readonly { readonly from: number; readonly ms: number }[];
}

/** A key with the value that it was given at a revision. */
export interface StoredValue {
  readonly key: string;
  readonly value: string;
  readonly revision: number;
}

/** What etcd holds in the end, asked of it when no write is under way any more. */
export interface Stored {
  /** Every put since before the first write of the drill, in the order in which a watch gives them. */
  readonly events: readonly StoredValue[];
  /** The keys as a linearizable read gives them. */
  readonly values: readonly StoredValue[];
}
