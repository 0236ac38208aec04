/**
 * What all calls to stores hold together of what stores answer: texts while they are read, and names of objects for as long as their
 * store is open. Each call is bounded by itself; as many as there may be at once would be more than the process has. When all of it is
 * taken, the store that holds the most in the namespace that holds the most has to begin again later. So a user who names hostile
 * stores, however many, takes from nobody else.
 */

/** Bytes. Once understood they take a few times as much; the deployed heap has 640 MiB. */
const MOST_TOGETHER = 64 * 1024 * 1024;

/** Bytes that the caller of a listing may keep of an object, beside its name. */
export const OF_AN_OBJECT = 512;

/** What is held had to be given up for others. */
class MemoryTaken extends Error {
  override readonly name = 'MemoryTaken';
  readonly code = MEMORY_TAKEN;
}

/** The code of that error. */
export const MEMORY_TAKEN = 'ERR_STORE_MEMORY';

/** One for all stores of a process. */
export class StoreMemory {
  readonly #most: number;
  readonly #holders = new Set<StoreShare>();

  constructor(most: number = MOST_TOGETHER) {
    this.#most = most;
  }

  /** What one store holds. `owner`: the namespace whose store it is. */
  share(owner: string): StoreShare {
    return new StoreShare(owner, share => this.#changed(share));
  }

  /** Bytes that are held. */
  get held(): number {
    return sum(this.#holders);
  }

  #changed(share: StoreShare): void {
    if (share.held === 0) this.#holders.delete(share);
    else this.#holders.add(share);
    while (this.held > this.#most) this.#heaviest()?.end();
  }

  #heaviest(): StoreShare | undefined {
    const owners = Map.groupBy(this.#holders, ({ owner }) => owner).values();
    const [shares = []] = [...owners].toSorted((a, b) => sum(b) - sum(a));
    return shares.toSorted((a, b) => b.held - a.held)[0];
  }
}

/** What one store holds of the memory of all. */
export class StoreShare {
  readonly owner: string;
  readonly #changed: (share: StoreShare) => void;
  readonly #ended = new AbortController();
  #held = 0;

  constructor(owner: string, changed: (share: StoreShare) => void) {
    this.owner = owner;
    this.#changed = changed;
  }

  get held(): number {
    return this.#held;
  }

  /** Fires when everything is to be released. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Takes so many bytes more. Throws when this is the one that has to let go. */
  take(bytes: number): void {
    this.#ended.signal.throwIfAborted();
    this.#held += bytes;
    this.#changed(this);
    this.#ended.signal.throwIfAborted();
  }

  /** Gives back some, at most what is held. */
  give(bytes: number = this.#held): void {
    this.#held = Math.max(0, this.#held - bytes);
    this.#changed(this);
  }

  /** Has everybody who reads for this store end. What they hold counts no more: it is garbage as soon as they have. */
  end(): void {
    this.#ended.abort(new MemoryTaken('the answers of stores exceed the memory limit'));
    this.give();
  }
}

function sum(shares: Iterable<StoreShare>): number {
  return [...shares].reduce((all, { held }) => all + held, 0);
}
