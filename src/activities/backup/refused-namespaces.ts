/**
 * Which namespaces have refused this process for so long that it has no rights there. The API server answers 403 for a namespace that was
 * never created, and as well for a moment while a RoleBinding is created again or its own memory of them fills (docs/decisions/0067-keys-wait-in-a-work-queue.md).
 */

/** Refusals in a row. With their distance: ten minutes at least, during which no ask of any backup was answered. */
const REFUSALS = 6;
/** Those of one moment count as one, however many ask in it and however often. */
const APART_MS = 120_000;

interface Refused {
  readonly times: number;
  /** When the last of them was counted. */
  readonly at: number;
}

export class RefusedNamespaces {
  readonly #now: () => number;
  readonly #refused = new Map<string, Refused>();

  /** @param now milliseconds from an arbitrary start, by a clock that is never set */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes note of a 403 from this namespace, and says whether it may be passed over. */
  refused(namespace: string): boolean {
    const now = this.#now();
    const { times, at } = this.#refused.get(namespace) ?? { times: 0, at: -Infinity };
    if (now - at < APART_MS) return times >= REFUSALS;
    this.#refused.set(namespace, { times: times + 1, at: now });
    return times + 1 >= REFUSALS;
  }

  /** Takes note that it has answered: what it has refused before no longer counts. */
  answered(namespace: string): void {
    this.#refused.delete(namespace);
  }
}
