/**
 * How much is under way at once, and of which group. A place that is free again may rest for a while before it is taken anew: what was
 * delivered keeps its receiver busy for longer than the delivery took.
 */
import { Holdings } from '../../kube/holdings.ts';
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
  readonly #holdings: Holdings;
  readonly #resting = new Set<() => void>();

  constructor(deps: PlacesDeps) {
    this.#deps = deps;
    this.#holdings = new Holdings(deps.count);
  }

  /** Whether a group has fewer places than are free, so one group alone takes half of them. */
  isFreeFor(group: string): boolean {
    return this.#holdings.mayTake(group);
  }

  take(group: string): void {
    this.#holdings.change(group, 1);
  }

  /** @param restMs how long nobody takes it, in milliseconds */
  release(group: string, restMs = 0): void {
    if (restMs <= 0) return this.#holdings.change(group, -1);
    const cancel = this.#deps.clock.after(restMs, () => {
      this.#resting.delete(cancel);
      this.#holdings.change(group, -1);
      this.#deps.onFree();
    });
    this.#resting.add(cancel);
  }

  /** No place that rests is told of any more. */
  stop(): void {
    for (const cancel of this.#resting) cancel();
  }
}
