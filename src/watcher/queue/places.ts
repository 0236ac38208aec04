/**
 * How much is under way at once, and of which group. A place that is free again may rest for a while before it is taken anew: what was
 * delivered keeps its receiver busy for longer than the delivery took.
 */
import type { Clock } from '../model/ports.ts';

export interface PlacesDeps {
  /** How many there are. */
  readonly count: number;
  readonly clock: Pick<Clock, 'after'>;
  /** A place that has rested is free. */
  readonly onFree: () => void;
}

export class Places {
  readonly #deps: PlacesDeps;
  readonly #takenBy = new Map<string, number>();
  readonly #resting = new Set<() => void>();
  #taken = 0;

  constructor(deps: PlacesDeps) {
    this.#deps = deps;
  }

  /** Whether a group has fewer places than are free, so one group alone takes half of them. */
  isFreeFor(group: string): boolean {
    return (this.#takenBy.get(group) ?? 0) < this.#deps.count - this.#taken;
  }

  take(group: string): void {
    this.#change(group, 1);
  }

  /** @param restMs how long nobody takes it, in milliseconds */
  release(group: string, restMs = 0): void {
    if (restMs <= 0) return this.#change(group, -1);
    const cancel = this.#deps.clock.after(restMs, () => {
      this.#resting.delete(cancel);
      this.#change(group, -1);
      this.#deps.onFree();
    });
    this.#resting.add(cancel);
  }

  /** No place that rests is told of any more. */
  stop(): void {
    for (const cancel of this.#resting) cancel();
  }

  #change(group: string, by: 1 | -1): void {
    this.#taken += by;
    const count = (this.#takenBy.get(group) ?? 0) + by;
    if (count === 0) this.#takenBy.delete(group);
    else this.#takenBy.set(group, count);
  }
}
