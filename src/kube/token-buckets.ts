export interface BucketOptions {
  /** Tokens of a full bucket. */
  readonly burst: number;
  /** Time in milliseconds in which one token comes back. */
  readonly refillMs: number;
  /** Keys that are remembered; the longest unused one is forgotten first. */
  readonly keys?: number;
}

/** A token bucket for each key. */
export class TokenBuckets {
  readonly #options: BucketOptions;
  readonly #clock: () => number;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  /** @param clock milliseconds that never go back */
  constructor(options: BucketOptions, clock: () => number = () => performance.now()) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Takes a token; false when there is none. */
  take(key: string): boolean {
    const { burst, refillMs, keys = 4096 } = this.#options;
    const now = this.#clock();
    const known = this.#buckets.get(key);
    const tokens =
      known === undefined ? burst : Math.min(burst, known.tokens + (now - known.atMs) / refillMs);
    // Deleted and set again, so that the map stays in the order of use.
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size >= keys && oldest !== undefined) this.#buckets.delete(oldest);
    this.#buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: now });
    return tokens >= 1;
  }
}
