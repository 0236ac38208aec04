/**
 * Which snapshots may use a store at once in this replica, or at one node (./node-turns.ts). A store that hangs keeps its own backups waiting
 * and no others: it never gets all slots. Whoever has to wait gives its slot back and comes again (docs/decisions/0088, 0115).
 */

export interface TurnsOptions {
  /** What the worker, or a node, does at once, of all stores. */
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

type Answer =
  /** One that is given back has done nothing: how long it took says nothing of the others. */
  { readonly kind: 'turn'; readonly end: () => void; readonly giveBack: () => void } | Wait;

export interface Wait {
  readonly kind: 'wait';
  /** Turns that this store has, and that all stores have. */
  readonly inUse: number;
  readonly inUseOfAll: number;
  /** Runs that have waited for longer. */
  readonly before: number;
  /** When to come again. */
  readonly seconds: number;
}

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

export class Turns {
  readonly #options: TurnsOptions;
  readonly #stores = new Map<string, Store>();
  #inUse = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Nobody has a turn, or would soon ask for one. */
  get isIdle(): boolean {
    const now = this.#options.now();
    return [...this.#stores.values()].every(
      ({ inUse, waiting }) => inUse === 0 && [...waiting.values()].every(each => isLate(each, now)),
    );
  }

  /** A turn, if one is free and nobody who would soon ask for it has waited longer. */
  take(name: string, run: WaitingRun): Answer {
    const store = this.#of(name);
    const now = this.#options.now();
    for (const [id, each] of store.waiting) if (isLate(each, now)) store.waiting.delete(id);
    store.waiting.delete(run.id);
    const before = [...store.waiting.values()].filter(({ begunAt }) => begunAt < run.begunAt).length;
    const { perStore, slots } = this.#options;
    const isFree = store.inUse < perStore && store.inUse < slots - this.#inUse;
    // A few of the first, since each comes again only now and then: a place is not kept free for one of them.
    if (isFree && before < 2 * perStore) return this.join(name);
    const seconds = clamp(((before + 1) / perStore) * store.usual);
    store.waiting.set(run.id, { begunAt: run.begunAt, expected: now + seconds * 1_000 });
    return { kind: 'wait', inUse: store.inUse, inUseOfAll: this.#inUse, before, seconds };
  }

  /** A turn for one that has had its turn and goes on: it counts, and does not wait. */
  join(name: string): Answer & { readonly kind: 'turn' } {
    const store = this.#of(name);
    const begun = this.#options.now();
    let isOver = false;
    store.inUse += 1;
    this.#inUse += 1;
    const giveBack = (): void => {
      if (isOver) return;
      isOver = true;
      store.inUse -= 1;
      this.#inUse -= 1;
      if (store.inUse === 0 && store.waiting.size === 0) this.#stores.delete(name);
    };
    const end = (): void => {
      if (!isOver) store.usual = (store.usual * 3 + (this.#options.now() - begun) / 1_000) / 4;
      giveBack();
    };
    return { kind: 'turn', end, giveBack };
  }

  #of(name: string): Store {
    const known = this.#stores.get(name);
    if (known !== undefined) return known;
    const store = { inUse: 0, usual: ASSUMED_SECONDS, waiting: new Map() };
    this.#stores.set(name, store);
    return store;
  }
}

function isLate({ expected }: { readonly expected: number }, now: number): boolean {
  return expected + LATE_MS < now;
}

function clamp(seconds: number): number {
  return Math.ceil(Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, seconds)));
}
