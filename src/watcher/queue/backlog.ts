/**
 * Resources whose workflows are told to look because they were found, not because something about them changed: all of them
 * after a start, and those that changed while another replica watched. They are let through a few a second, those with
 * something to do first, and the namespaces by turns: told at once, a hundred workflows would be replayed and looked at all at the same time.
 */
import type { Clock } from '../model/ports.ts';
import { Turns } from '../../kube/turns.ts';

export interface BacklogDeps {
  /** Tells the workflow of a resource to look. */
  readonly tell: (key: string) => void;
  /** Which keys share their turns: those of one namespace. */
  readonly groupOf: (key: string) => string;
  readonly clock: Clock;
  /** The time between two of them. */
  readonly everyMs: number;
}

export class Backlog {
  readonly #deps: BacklogDeps;
  readonly #first: Turns<string>;
  readonly #others: Turns<string>;
  #nextAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #paused = false;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
    this.#first = new Turns(deps.groupOf);
    this.#others = new Turns(deps.groupOf);
  }

  get size(): number {
    return this.#first.size + this.#others.size;
  }

  /** Puts a resource in, once; with something to do it passes all that have nothing. */
  add(key: string, hasWork: boolean): void {
    if (hasWork) this.#others.delete(key);
    if (hasWork || !this.#first.has(key)) (hasWork ? this.#first : this.#others).add(key);
    this.#schedule();
  }

  /** Puts those that are in into another order, the first ones of it first. */
  sort(order: readonly { readonly key: string; readonly hasWork: boolean }[]): void {
    for (const { key, hasWork } of order.filter(({ key }) => this.#first.has(key) || this.#others.has(key))) {
      this.remove(key);
      this.add(key, hasWork);
    }
  }

  /** Its workflow was told for another reason, or the resource is gone. */
  remove(key: string): void {
    this.#first.delete(key);
    this.#others.delete(key);
  }

  /** Lets nothing through until `resume`. */
  pause(): void {
    this.#paused = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#paused || this.#cancel !== undefined || this.size === 0) return;
    const wait = this.#nextAt - this.#deps.clock.now();
    if (wait <= 0) return this.#letOneThrough();
    this.#cancel = this.#deps.clock.after(wait, () => {
      this.#cancel = undefined;
      this.#letOneThrough();
    });
  }

  #letOneThrough(): void {
    const key = this.#first.take() ?? this.#others.take();
    if (key === undefined) return;
    this.#nextAt = this.#deps.clock.now() + this.#deps.everyMs;
    this.#deps.tell(key);
    this.#schedule();
  }
}
