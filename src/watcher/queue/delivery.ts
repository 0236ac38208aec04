/** What the queue of signals is given, and what it tells. */
import type { Backoff } from '../../api/values/backoff.ts';
import type { Pace } from './pace.ts';
import type { Clock } from '../model/ports.ts';

/**
 * How a delivery ended. `unavailable`: Temporal did not take it, and may be taking nothing from anybody.
 * `refused`: Temporal is there and does not want this one. `code` is for people: no addresses, no secrets.
 */
export type Delivery =
  /** `restMs`: how long its place in the queue is not taken by another; asked again while it rests. */
  | { readonly outcome: 'delivered'; readonly restMs?: RestMs }
  /** Its workflow has not got to the last one yet: it is tried again, and neither Temporal nor the key is in trouble. */
  | { readonly outcome: 'held' }
  | FailedDelivery;

/** Milliseconds, by how many places are taken. */
export type RestMs = (held: HeldPlaces) => number;

export interface HeldPlaces {
  /** How many places its group has, this one included. */
  readonly own: number;
  /** How many that group has that has the most. */
  readonly most: number;
}

export interface FailedDelivery {
  readonly outcome: 'unavailable' | 'refused';
  readonly code: string;
}

/** How a key is added. */
export interface AddOptions {
  /** It is delivered soon also when the key has changed a lot of late. */
  readonly urgent?: boolean;
  /** Keys are added one after the other, at a pace of their own: no place needs to rest. */
  readonly isPaced?: boolean;
  /** Nobody has changed anything of it: it does not take the place of one of which somebody has. */
  readonly isBackground?: boolean;
  /** It may be retracted until its turn has come. */
  readonly isRetractable?: boolean;
}

/** Never rejects. Ends soon after `abort` is raised. */
type Deliver = (key: string, abort: AbortSignal) => Promise<Delivery>;

export interface QueueOptions extends Pace {
  /**
   * The time between two signals of a key whose news is urgent, however slow its pace has become; for two of them in
   * twice `maxIntervalMs`.
   */
  readonly urgentIntervalMs: number;
  /** Deliveries under way at once, of different keys, and half as many in the background; of one group alone half of each. */
  readonly concurrency: number;
  /** The wait between the tries of a queue that cannot reach Temporal. */
  readonly outageBackoff: Backoff;
  /** The wait between the tries of a single key that is refused. */
  readonly keyBackoff: Backoff;
  /** The wait between the tries of a key that is held back. */
  readonly heldBackoff: Backoff;
}

export interface QueueDeps {
  readonly deliver: Deliver;
  /** Whether what a key was added for is not so any more; asked when its turn has come, of one that is retractable. */
  readonly isRetracted?: (key: string) => boolean;
  /** Which keys share their turns: those of one namespace. */
  readonly groupOf: (key: string) => string;
  readonly clock: Clock;
  readonly options: QueueOptions;
}

/** A key that was added and could not be delivered so far. */
export interface Undelivered {
  readonly key: string;
  /** On the clock of the queue: when it was first added since its last delivery. */
  readonly since: number;
  /** How the last try of this key, or else of the queue, ended. */
  readonly code: string;
}

export interface QueueStats {
  readonly keys: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly added: number;
  readonly delivered: number;
  readonly failed: number;
  readonly reachable: boolean;
}
