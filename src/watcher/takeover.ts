/**
 * What a watcher that begins does with what its first lists find. It does not know what changed while nobody watched: without a word of
 * the one before, every workflow looks once, a few a second. With it, only those do whose objects have changed or are missing, or
 * that have something to do (docs/decisions/0090-who-watches-next-tells-what-changed.md).
 */
import type { KubeObject } from '../kube/port.ts';
import type { Clock, WatcherLogger } from './model/ports.ts';
import type { Backlog } from './queue/backlog.ts';
import { isBehind, type Positions } from './queue/told-through.ts';
import { FirstLists } from './resources/first-lists.ts';
import { type KnownResources, needsWorkflow } from './resources/known-resources.ts';

interface TakeoverOptions {
  readonly admitEveryMs: number;
  /** So long after a start everything is told once more: a replica of another release may have made the first pass. */
  readonly againAfterMs: number;
  /** When not everything has been listed after so long, what has been is told without waiting for the rest. */
  readonly listsMs: number;
}

export interface TakeoverDeps {
  readonly known: KnownResources;
  readonly backlog: Backlog;
  /** Up to where everything is known; undefined until all is listed. */
  readonly positions: () => Positions | undefined;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
  readonly options: TakeoverOptions;
}

export class Takeover {
  readonly #deps: TakeoverDeps;
  readonly #lists: FirstLists;
  /** Up to where everything was told before; undefined: nobody knows, or it does not count. */
  #told: Positions | undefined;
  #startedAt = 0;
  #isSettled = false;
  #cancelSettle = (): void => {};
  #cancelAgain = (): void => {};

  constructor(deps: TakeoverDeps, told: Positions | undefined) {
    this.#deps = deps;
    this.#told = told;
    this.#lists = new FirstLists(told);
  }

  start(): void {
    const { clock, options } = this.#deps;
    this.#startedAt = clock.now();
    this.#settle();
    // Those that nobody needs to tell of have not been looked at by anybody either.
    if (this.#told !== undefined) return;
    this.#cancelAgain = clock.after(options.againAfterMs, () => this.#tellAll());
  }

  stop(): void {
    this.#cancelSettle();
    this.#cancelAgain();
  }

  /** An object of a first list, and the keys of the resources that it concerns. */
  found(object: KubeObject, keys: readonly string[]): void {
    const { known, backlog } = this.#deps;
    // Later ones are of a namespace that could not be listed before: all of them are told.
    if (!this.#isSettled) this.#lists.note(object);
    if (this.#told !== undefined) return;
    for (const key of keys) backlog.add(key, known.get(key)?.hasWork ?? true);
  }

  /** Whether who is to be told is not decided yet. */
  get isDeciding(): boolean {
    return this.#told !== undefined;
  }

  /** Once, when all is listed. */
  #settle(): void {
    const { known, backlog, positions, clock, logger, options } = this.#deps;
    const now = positions();
    const told = this.#told;
    if (now === undefined) {
      if (told !== undefined && clock.now() - this.#startedAt >= options.listsMs) this.#giveUp();
      this.#cancelSettle = clock.after(options.admitEveryMs, () => this.#settle());
      return;
    }
    this.#told = undefined;
    this.#isSettled = true;
    const order = this.#lists.order(known.all());
    if (told === undefined) return backlog.sort(order);
    const isRestored = isBehind(now, told);
    const due = order.filter(({ hasWork, hasChanged }) => hasWork || hasChanged || isRestored);
    for (const { key, hasWork } of due) backlog.add(key, hasWork);
    logger.info('what changed since another replica watched is told', {
      resources: order.length,
      told: due.length,
    });
  }

  /** A kind cannot be listed: what there is of the others is told as without any word of the one before. */
  #giveUp(): void {
    this.#told = undefined;
    this.#tellAll();
    const { clock, options } = this.#deps;
    this.#cancelAgain = clock.after(options.againAfterMs, () => this.#tellAll());
  }

  #tellAll(): void {
    const { known, backlog } = this.#deps;
    for (const { key, hasWork } of known.all().filter(needsWorkflow)) backlog.add(key, hasWork);
  }
}
