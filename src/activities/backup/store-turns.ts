/**
 * Which snapshots may use a store at once in this replica. A store that hangs keeps its own backups waiting and no others: it never gets
 * all slots of the worker. Whoever has to wait gives its slot back and comes again (docs/decisions/0088).
 */

export interface StoreTurnsOptions {
  /** What the worker does at once, of all stores. */
  readonly slots: number;
  /** What one store gets of them at most. */
  readonly perStore: number;
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number;
}

/** A run of a backup, and when it was begun: the one that has waited the longest goes first. */
export interface WaitingRun {
  readonly id: string;
  readonly begunAt: number;
}

export type Answer =
  | { readonly kind: 'turn'; readonly end: () => void }
  /** `seconds`: when to come again. */
  | { readonly kind: 'wait'; readonly inUse: number; readonly before: number; readonly seconds: number };

const SHORTEST_SECONDS = 2;
const LONGEST_SECONDS = 300;
/** Before the first has ended. */
const ASSUMED_SECONDS = 5;
/** Whoever has not come again so long after it should have has found its turn in another replica, or was aborted. */
const LATE_MS = 30_000;

interface Store {
  inUse: number;
  /** How long turns took lately, in seconds. */
  usual: number;
  readonly waiting: Map<string, { readonly begunAt: number; readonly expected: number }>;
}

export class StoreTurns {
  readonly #options: StoreTurnsOptions;
  readonly #stores = new Map<string, Store>();
  #inUse = 0;

  constructor(options: StoreTurnsOptions) {
    this.#options = options;
  }

  /** A turn, if one is free and nobody who would soon ask for it has waited longer. */
  take(name: string, run: WaitingRun): Answer {
    const store = this.#of(name);
    const now = this.#options.now();
    for (const [id, { expected }] of store.waiting) if (expected + LATE_MS < now) store.waiting.delete(id);
    store.waiting.delete(run.id);
    const before = [...store.waiting.values()].filter(({ begunAt }) => begunAt < run.begunAt).length;
    const { perStore, slots } = this.#options;
    const isFree = store.inUse < perStore && store.inUse < slots - this.#inUse;
    // A few of the first, since each comes again only now and then: a place is not kept free for one of them.
    if (isFree && before < 2 * perStore) return this.join(name);
    const seconds = clamp(((before + 1) / perStore) * store.usual);
    store.waiting.set(run.id, { begunAt: run.begunAt, expected: now + seconds * 1_000 });
    return { kind: 'wait', inUse: store.inUse, before, seconds };
  }

  /** A turn for one that has had its turn and goes on: it counts, and does not wait. */
  join(name: string): Answer & { readonly kind: 'turn' } {
    const store = this.#of(name);
    const begun = this.#options.now();
    let isOver = false;
    store.inUse += 1;
    this.#inUse += 1;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      store.inUse -= 1;
      this.#inUse -= 1;
      store.usual = (store.usual * 3 + (this.#options.now() - begun) / 1_000) / 4;
      if (store.inUse === 0 && store.waiting.size === 0) this.#stores.delete(name);
    };
    return { kind: 'turn', end };
  }

  #of(name: string): Store {
    const known = this.#stores.get(name);
    if (known !== undefined) return known;
    const store = { inUse: 0, usual: ASSUMED_SECONDS, waiting: new Map() };
    this.#stores.set(name, store);
    return store;
  }
}

function clamp(seconds: number): number {
  return Math.ceil(Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, seconds)));
}
