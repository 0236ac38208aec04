/**
 * Resources whose workflows are told to look because they were found, not because something about them changed: all of them
 * after a start, and those that changed while another replica watched. They are let through a few a second, those with
 * something to do first: told at once, a hundred workflows would be replayed and looked at all at the same time.
 */
import type { Clock } from '../model/ports.ts';

export interface BacklogDeps {
  /** Tells the workflow of a resource to look. */
  readonly tell: (key: string) => void;
  readonly clock: Clock;
  /** The time between two of them. */
  readonly everyMs: number;
}

export class Backlog {
  readonly #deps: BacklogDeps;
  readonly #first = new Set<string>();
  readonly #others = new Set<string>();
  #nextAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #paused = false;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
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
    const [key] = this.#first.size > 0 ? this.#first : this.#others;
    if (key === undefined) return;
    this.remove(key);
    this.#nextAt = this.#deps.clock.now() + this.#deps.everyMs;
    this.#deps.tell(key);
    this.#schedule();
  }
}
