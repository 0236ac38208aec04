/** Limits how many may do something at once, so that no key keeps the others from it. */

export interface LimiterOptions {
  /** Of all keys together. */
  readonly atOnce: number;
  /** Of one key; `atOnce` by default. */
  readonly perKey?: number;
}

/** Gives a place back; once, however often it is called. */
export type Release = () => void;

/**
 * A number of places that are shared by key, such as connections by namespace. A key gets a further place only while it holds fewer than
 * are free: alone it has half of them, two have a third each, and one is left for the next. Keys that wait get places by turns.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #held = new Map<string, number>();
  /** By key, the next one first; each in the order of asking. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #taken = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  /** Places that are taken: of one key, or of all. */
  taken(key?: string): number {
    return key === undefined ? this.#taken : (this.#held.get(key) ?? 0);
  }

  /** How many of a key wait. */
  waiting(key: string): number {
    return this.#waiting.get(key)?.size ?? 0;
  }

  /** A place if one is free for the key. */
  tryTake(key: string): Release | undefined {
    return this.#mayTake(key) ? this.join(key) : undefined;
  }

  /** A place, also when none is free: for what cannot wait, and counts. */
  join(key: string): Release {
    this.#change(key, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#change(key, -1);
      this.#grant();
    };
  }

  /**
   * Waits for a place.
   * @throws the reason of the signal when that fires first
   */
  async take(key: string, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    return this.tryTake(key) ?? this.#wait(key, signal);
  }

  #wait(key: string, signal: AbortSignal | undefined): Promise<Release> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal?.removeEventListener('abort', abort);
        queue.delete(grant);
        if (queue.size === 0) this.#waiting.delete(key);
      };
      const abort = (): void => {
        leave();
        reject(signal?.reason);
      };
      const grant = (): void => {
        leave();
        resolve(this.join(key));
      };
      const queue = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, queue.add(grant));
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  #grant(): void {
    for (const [key, queue] of this.#waiting) {
      const [grant] = queue;
      if (grant === undefined || !this.#mayTake(key)) continue;
      grant();
      // The key stands behind all others now, and is met again while places are left.
      if (this.#waiting.delete(key)) this.#waiting.set(key, queue);
    }
  }

  #mayTake(key: string): boolean {
    const { atOnce, perKey = atOnce } = this.#options;
    return this.taken(key) < Math.min(perKey, atOnce - this.#taken);
  }

  #change(key: string, by: 1 | -1): void {
    const held = this.taken(key) + by;
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#taken += by;
  }
}
