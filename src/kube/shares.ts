/** A number of places that many share, such as connections: whoever is slow never has them all. */

interface Waiting {
  readonly key: string;
  readonly grant: () => void;
}

/**
 * A key may take a further place only while it holds fewer than are free (dynamic thresholds, as switches share their
 * buffers by them: Choudhury and Hahne 1998). Alone it has half of them, two come to have
 * a third each as their calls end, and so on: something is left for the next one. Nobody's share has to be configured.
 */
export class Shares {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #free: number;

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#total - this.#free;
  }

  /**
   * Resolves with a place, in the order of asking among those who may have one, to what gives it back.
   * @throws the reason of the signal when that fires first
   */
  async take(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#mayTake(key)) await this.#turn(key, signal);
    else this.#count(key, 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#count(key, -1);
      this.#letIn();
    };
  }

  #mayTake(key: string): boolean {
    return (this.#held.get(key) ?? 0) < this.#free;
  }

  #turn(key: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const grant = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', giveUp);
        this.#count(key, 1);
        resolve();
      };
      const waiting = { key, grant };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #count(key: string, change: 1 | -1): void {
    const held = (this.#held.get(key) ?? 0) + change;
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#free -= change;
  }

  #letIn(): void {
    for (const { key, grant } of this.#waiting) if (this.#mayTake(key)) grant();
  }
}
