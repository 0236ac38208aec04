/** Keys of one kind of news that are ready, and the places for their deliveries: one lane never waits for the places of another. */
import { Turns } from '../../kube/turns.ts';
import type { CalmFirst } from './calm-first.ts';
import type { RestMs } from './delivery.ts';
import type { Entry } from './entry.ts';
import { Places, type PlacesDeps } from './places.ts';

export interface LaneDeps extends PlacesDeps {
  readonly groupOf: (entry: Entry) => string;
  /** Who goes first in a group; undefined: who came first. */
  readonly calmFirst?: CalmFirst;
}

export class Lane {
  readonly #groupOf: (entry: Entry) => string;
  readonly #clock: PlacesDeps['clock'];
  readonly #ready: Turns<Entry>;
  readonly #places: Places;
  readonly #calmFirst: CalmFirst | undefined;

  constructor({ groupOf, calmFirst, ...deps }: LaneDeps) {
    this.#groupOf = groupOf;
    this.#calmFirst = calmFirst;
    this.#clock = deps.clock;
    this.#ready = new Turns(groupOf);
    this.#places = new Places(deps);
  }

  add(entry: Entry): void {
    this.#ready.add(entry);
  }

  delete(entry: Entry): void {
    this.#ready.delete(entry);
  }

  /** Takes out who is to be tried now, if a place is free. */
  next(): Entry | undefined {
    const choice = this.#calmFirst?.choice(this.#clock.now());
    const rank = choice && ((entry: Entry) => choice.rankOf(this.#groupOf(entry), entry));
    const next = this.#ready.take(group => this.#places.isFreeFor(group), undefined, rank);
    if (next !== undefined) choice?.took(this.#groupOf(next), next);
    return next;
  }

  /** Takes out one that matches, whatever places are free. */
  take(matches: (entry: Entry) => boolean): Entry | undefined {
    return this.#ready.take(undefined, matches);
  }

  /** Takes a place. Returns what gives it back, after a rest if there is to be one. */
  enter(entry: Entry): (restMs: RestMs | undefined) => void {
    const group = this.#groupOf(entry);
    this.#places.take(group);
    return restMs => this.#places.release(group, restMs);
  }

  /** Final: nobody is ready any more, and no place that rests is told of. */
  stop(): void {
    this.#ready.clear();
    this.#places.stop();
  }
}
