/** Exact texts that must not leave the process, for the scrubber: those that are given, and the last few that were read from files. */

/**
 * A key may be renewed with every read of its file, each ten seconds. Connections with a former one stay open for two minutes, and so
 * do errors that quote it: these are twelve, and some to spare.
 */
const MOST_READ = 20;

export class RecentSecrets implements Iterable<string> {
  readonly #always: ReadonlySet<string>;
  /** The least recent first. */
  readonly #read = new Set<string>();
  readonly #most: number;

  /**
   * @param always are never forgotten
   * @param most of the others that are kept
   */
  constructor(always: Iterable<string>, most = MOST_READ) {
    this.#always = new Set(always);
    this.#most = most;
  }

  /** Keeps a text that was read; beyond the most that are kept the least recent one is forgotten. */
  add(text: string): void {
    if (this.#always.has(text)) return;
    this.#read.delete(text);
    this.#read.add(text);
    for (const oldest of this.#read) {
      if (this.#read.size <= this.#most) return;
      this.#read.delete(oldest);
    }
  }

  *[Symbol.iterator](): Iterator<string> {
    yield* this.#always;
    yield* this.#read;
  }
}
