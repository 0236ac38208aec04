/** A number of places that many share, such as connections: whoever is slow never has them all. */

import { Holdings } from './holdings.ts';

interface Waiting {
  readonly key: string;
  readonly grant: () => void;
}

/** Who may have no place now waits for one. */
export class Shares {
  readonly #holdings: Holdings;
  readonly #waiting = new Set<Waiting>();

  constructor(total: number) {
    this.#holdings = new Holdings(total);
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#holdings.taken;
  }

  /**
   * Resolves with a place, in the order of asking among those who may have one, to what gives it back.
   * @throws the reason of the signal when that fires first
   */
  async take(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#holdings.mayTake(key)) await this.#turn(key, signal);
    else this.#holdings.change(key, 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#holdings.change(key, -1);
      this.#letIn();
    };
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
        this.#holdings.change(key, 1);
        resolve();
      };
      const waiting = { key, grant };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #letIn(): void {
    for (const { key, grant } of this.#waiting) if (this.#holdings.mayTake(key)) grant();
  }
}
