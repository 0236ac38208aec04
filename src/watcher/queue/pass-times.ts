/**
 * How long passes take of late, in each namespace: whoever tells workflows to look goes slower where what they do then takes long. It is
 * known of the passes of this replica alone, which are as slow as those of the others: all of them share the API server.
 */

import type { HeldPlaces } from './delivery.ts';

/** Of the mean, how much the last pass counts. */
const WEIGHT = 1 / 4;
/** Nothing is known of a namespace of which no pass has ended for so long, in milliseconds. */
const KNOWN_FOR_MS = 10_000;
/** What a pass is taken to last then: when many clusters change at one moment, the first passes show how long it really is. */
const UNKNOWN_MS = 2_000;
/** A namespace with so few places has none that rests: a fleet of many namespaces with a cluster or two each is told at once. */
const FEW = 2;
/** As many namespaces are remembered; the one that was heard of longest ago is forgotten first. */
const REMEMBERED = 1_000;

/** So many times as long as a pass takes beyond what is no sign of too much to do, a place rests: an operation and another pass may follow. */
const REST = { times: 3, shortMs: 300, mostMs: 10_000 };

export class PassTimes {
  readonly #now: () => number;
  readonly #ended = new Map<string, { readonly meanMs: number; readonly at: number }>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A pass has ended, well or not. @param milliseconds after so long */
  took(namespace: string, milliseconds: number): void {
    const before = this.#meanMs(namespace);
    // The order of a Map is that in which its keys were added.
    this.#ended.delete(namespace);
    this.#ended.set(namespace, { meanMs: before + WEIGHT * (milliseconds - before), at: this.#now() });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > REMEMBERED && oldest !== undefined) this.#ended.delete(oldest);
  }

  /**
   * How long to wait after a signal before another workflow of the namespace is told in place of this one, in milliseconds. Where others
   * keep everything busy, passes are slow too: a namespace with half as many places as the one with the most rests a quarter as long.
   */
  restMs(namespace: string, { own, most }: HeldPlaces): number {
    if (own <= FEW) return 0;
    const restMs = Math.min(REST.mostMs, REST.times * Math.max(0, this.#meanMs(namespace) - REST.shortMs));
    return (own / most) ** 2 * restMs;
  }

  #meanMs(namespace: string): number {
    const { meanMs = UNKNOWN_MS, at = 0 } = this.#ended.get(namespace) ?? {};
    return this.#now() - at < KNOWN_FOR_MS ? meanMs : UNKNOWN_MS;
  }
}
