/** Which namespaces were seen to have many objects of a kind, so that not every cluster that is made in one finds it out again. */

/** How long it is remembered: a namespace may shrink, and then one list contains everything. */
const REMEMBERED_MS = 600_000;

export class LargeNamespaces {
  readonly #now: () => number;
  readonly #seen = new Map<string, number>();

  /** @param now milliseconds from an arbitrary start, by a clock that is never set */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes note that the namespace has many objects of this kind. */
  note(namespace: string, kind: string): void {
    this.#seen.set(keyOf(namespace, kind), this.#now());
  }

  /** Whether it had many of late. */
  has(namespace: string, kind: string): boolean {
    const key = keyOf(namespace, kind);
    const at = this.#seen.get(key);
    if (at === undefined) return false;
    if (this.#now() - at < REMEMBERED_MS) return true;
    this.#seen.delete(key);
    return false;
  }
}

function keyOf(namespace: string, kind: string): string {
  return `${namespace}/${kind}`;
}
