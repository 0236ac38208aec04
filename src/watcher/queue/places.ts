/**
 * How much is under way at once, and of which group. A place that is free again may rest for a while before it is taken anew: what was
 * delivered keeps its receiver busy for longer than the delivery took.
 */
import { Holdings } from '../../kube/holdings.ts';
import type { Clock } from '../model/ports.ts';
import type { RestMs } from './delivery.ts';

export interface PlacesDeps {
  /** How many there are. */
  readonly count: number;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** A place that has rested is free. */
  readonly onFree: () => void;
}

/** How often a place that rests asks whether that is long enough. */
const ASKED_EACH_MS = 250;

export class Places {
  readonly #deps: PlacesDeps;
  readonly #holdings: Holdings;
  readonly #resting = new Set<() => void>();
  #isStopped = false;

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

  /** @param restMs how long nobody takes it; what it says later counts from now as well */
  release(group: string, restMs: RestMs = () => 0): void {
    const { clock, onFree } = this.#deps;
    const begun = clock.now();
    const leftMs = (): number => {
      const held = { own: this.#holdings.of(group), most: this.#holdings.most };
      return this.#isStopped ? 0 : restMs(held) - (clock.now() - begun);
    };
    const free = (): void => this.#holdings.change(group, -1);
    if (leftMs() <= 0) return free();
    const rest = (ms: number): void => {
      const cancel = clock.after(Math.max(1, Math.min(ms, ASKED_EACH_MS)), () => {
        this.#resting.delete(cancel);
        const left = leftMs();
        if (left > 0) return rest(left);
        free();
        onFree();
      });
      this.#resting.add(cancel);
    };
    rest(leftMs());
  }

  /** No place that rests is told of any more. */
  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#resting) cancel();
  }
}
