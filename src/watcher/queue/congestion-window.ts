/**
 * How much may be under way at once, by how fast Temporal takes signals. Work that waits for the same database only makes each other
 * slower: tasks expire and are done again. So the number grows by one while signals are taken as fast as ever, and is halved when
 * they are not, like the congestion window of TCP (RFC 5681).
 */
import type { Clock } from '../model/ports.ts';

export interface CongestionOptions {
  /** How many may be under way at least, as at a start, and at most. */
  readonly leastAtOnce: number;
  readonly mostAtOnce: number;
  /** The time between two steps up, and between two halvings, in milliseconds. */
  readonly growEveryMs: number;
  readonly halveEveryMs: number;
}

/** Of the mean, how much the last answer counts. */
const WEIGHT = 1 / 8;
/** Faster than this is as fast as ever, in milliseconds: so many times the fastest answer, and a few more. */
const FAST = { times: 2, moreMs: 40 };
/** Slower than this is too slow. */
const SLOW = { times: 4, moreMs: 100 };

/** A repair takes some 25 writes to Temporal one after the other, and some of the API server's, which is short of processors too then. */
const REST = { times: 40, leastMs: 250, mostMs: 5_000 };

export class CongestionWindow {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #options: CongestionOptions;
  #size: number;
  #fastestMs = Number.POSITIVE_INFINITY;
  #meanMs: number | undefined;
  #grownAt: number;
  #halvedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now'>, options: CongestionOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#size = options.leastAtOnce;
    this.#grownAt = clock.now();
  }

  /** How much may be under way now. */
  get size(): number {
    return this.#size;
  }

  /** Temporal has taken a signal. @param milliseconds after so long */
  answered(milliseconds: number): void {
    this.#fastestMs = Math.min(this.#fastestMs, milliseconds);
    const meanMs = this.#meanMs ?? milliseconds;
    this.#meanMs = meanMs + WEIGHT * (milliseconds - meanMs);
    if (this.#meanMs > this.#limitMs(SLOW)) this.#halve();
    else this.grow();
  }

  /** Makes room for one more, unless that was a moment ago or Temporal was slower than ever when it answered last. */
  grow(): void {
    const { mostAtOnce, growEveryMs } = this.#options;
    const now = this.#clock.now();
    const isFast = this.#meanMs === undefined || this.#meanMs <= this.#limitMs(FAST);
    if (!isFast || now - this.#grownAt < growEveryMs) return;
    this.#grownAt = now;
    this.#size = Math.min(mostAtOnce, this.#size + 1);
  }

  /**
   * How long to wait after a signal before another workflow is told in place of this one, in milliseconds. What a signal causes takes many
   * writes to the database that took the signal, so the time for it is reckoned from how much longer that takes than ever.
   */
  get restMs(): number {
    const delayMs = this.#meanMs === undefined ? 0 : this.#meanMs - this.#fastestMs;
    return Math.min(REST.mostMs, Math.max(REST.leastMs, REST.times * delayMs));
  }

  #limitMs({ times, moreMs }: typeof FAST): number {
    return times * this.#fastestMs + moreMs;
  }

  #halve(): void {
    const { leastAtOnce, halveEveryMs } = this.#options;
    const now = this.#clock.now();
    if (now - this.#halvedAt < halveEveryMs) return;
    this.#halvedAt = now;
    this.#size = Math.max(leastAtOnce, Math.floor(this.#size / 2));
  }
}
