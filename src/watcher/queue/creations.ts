/**
 * How many new clusters are created at once. When hundreds are asked for together, all of their workflows would be half way for a long
 * time: tasks then expire and are done again, and more work begets more. So few are begun, as many as Temporal keeps up with, the
 * namespaces by turns, and the next one when one is available.
 */
import type { Clock } from '../model/ports.ts';
import { Turns } from '../../kube/turns.ts';
import type { CongestionWindow } from './congestion-window.ts';

export interface CreationsOptions {
  /** One that is not available after so many milliseconds makes room for the next: nobody waits for one that never will be. */
  readonly creationMs: number;
  /** While some wait, so often one more is begun if Temporal keeps up: those under way may wait for slow nodes. */
  readonly growEveryMs: number;
}

export interface CreationsDeps {
  /** Tells the workflow of a cluster to look. */
  readonly tell: (key: string) => void;
  /** At most so many at once; of one namespace alone half of them. */
  readonly window: Pick<CongestionWindow, 'size' | 'grow'>;
  /** Which keys share their turns: those of one namespace. */
  readonly groupOf: (key: string) => string;
  readonly clock: Clock;
  readonly options: CreationsOptions;
}

export class Creations {
  readonly #deps: CreationsDeps;
  readonly #waiting: Turns<string>;
  /** What cancels the end of their time. */
  readonly #underWay = new Map<string, () => void>();
  /** Those under way, and those that were not available in time. */
  readonly #begun = new Set<string>();

  #cancelGrowth: (() => void) | undefined;

  constructor(deps: CreationsDeps) {
    this.#deps = deps;
    this.#waiting = new Turns(deps.groupOf);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  isWaiting(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** Whether a cluster was told already, so that it may be told again at any time. */
  hasBegun(key: string): boolean {
    return this.#begun.has(key);
  }

  /** Has a new cluster told, now or when there is room. */
  add(key: string): void {
    this.#waiting.add(key);
    this.#begin();
  }

  /** A cluster is available or gone. */
  remove(key: string): void {
    this.#waiting.delete(key);
    this.#begun.delete(key);
    this.#makeRoom(key);
  }

  stop(): void {
    this.#waiting.clear();
    this.#cancelGrowth?.();
    for (const cancel of this.#underWay.values()) cancel();
  }

  #makeRoom(key: string): void {
    this.#underWay.get(key)?.();
    if (this.#underWay.delete(key)) this.#begin();
  }

  #begin(): void {
    const { clock, options, tell } = this.#deps;
    for (let key = this.#next(); key !== undefined; key = this.#next()) {
      const begun = key;
      this.#begun.add(begun);
      this.#underWay.set(
        begun,
        clock.after(options.creationMs, () => this.#makeRoom(begun)),
      );
      tell(begun);
    }
    if (this.#waiting.size > 0) this.#cancelGrowth ??= clock.after(options.growEveryMs, () => this.#grow());
  }

  #grow(): void {
    this.#cancelGrowth = undefined;
    this.#deps.window.grow();
    this.#begin();
  }

  #next(): string | undefined {
    const { groupOf, window } = this.#deps;
    const free = window.size - this.#underWay.size;
    const countOf = (group: string): number =>
      [...this.#underWay.keys()].filter(key => groupOf(key) === group).length;
    return this.#waiting.take(group => countOf(group) < free);
  }
}
