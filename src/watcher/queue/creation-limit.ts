/**
 * How many new clusters are created at once. When hundreds are applied together, all of their workflows would be half way for a long time:
 * activities then wait in their task queue until they expire.
 */
import type { Clock } from '../model/ports.ts';

export interface CreationLimitOptions {
  readonly creationsAtOnce: number;
  /** One that is not available after so many milliseconds makes room: nobody waits for one that never will be. */
  readonly creationMs: number;
}

export class CreationLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #options: CreationLimitOptions;
  /** By key: when its creation began. */
  readonly #begun = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>, options: CreationLimitOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Whether the creation of this cluster has begun, or begins now. */
  begin(key: string): boolean {
    if (this.#begun.has(key)) return true;
    const { creationsAtOnce, creationMs } = this.#options;
    const limit = this.#clock.now() - creationMs;
    const underWay = [...this.#begun.values()].filter(begunAt => begunAt > limit).length;
    if (underWay >= creationsAtOnce) return false;
    this.#begun.set(key, this.#clock.now());
    return true;
  }

  hasBegun(key: string): boolean {
    return this.#begun.has(key);
  }

  /** The cluster is available or gone. */
  end(key: string): void {
    this.#begun.delete(key);
  }
}
