/** Items that wait, in the order of their coming within each group; the groups take turns. */

/** However many items one group has, an item of another waits for one of each group at most. */
export class Turns<Item> {
  /** In the order of their turns. */
  readonly #groups = new Map<string, Set<Item>>();
  readonly #groupOf: (item: Item) => string;
  #size = 0;

  constructor(groupOf: (item: Item) => string) {
    this.#groupOf = groupOf;
  }

  get size(): number {
    return this.#size;
  }

  has(item: Item): boolean {
    return this.#groups.get(this.#groupOf(item))?.has(item) ?? false;
  }

  add(item: Item): void {
    if (this.has(item)) return;
    const group = this.#groupOf(item);
    const items = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, items.add(item));
    this.#size += 1;
  }

  delete(item: Item): void {
    const group = this.#groupOf(item);
    const items = this.#groups.get(group);
    if (items?.delete(item) !== true) return;
    this.#size -= 1;
    if (items.size === 0) this.#groups.delete(group);
  }

  clear(): void {
    this.#groups.clear();
    this.#size = 0;
  }

  /** Takes out the first item of the group that has the most. */
  dropFromLargest(): void {
    const [largest] = [...this.#groups.values()].sort((a, b) => b.size - a.size);
    for (const item of largest ?? []) {
      this.delete(item);
      return;
    }
  }

  /**
   * Takes out the first item of the group whose turn it is, among those that match.
   * @param mayTake whether it may be the turn of a group
   * @param rank of several in a group the lowest goes first, and of equals the one that came first
   */
  take(
    mayTake: (group: string) => boolean = () => true,
    matches: (item: Item) => boolean = () => true,
    rank?: (item: Item) => number,
  ): Item | undefined {
    for (const [group, items] of this.#groups) {
      const item = mayTake(group) ? firstOf(items, matches, rank) : undefined;
      if (item === undefined) continue;
      this.delete(item);
      // The group stands behind all others now.
      if (items.size > 0 && this.#groups.delete(group)) this.#groups.set(group, items);
      return item;
    }
    return undefined;
  }
}

function firstOf<Item>(
  items: Iterable<Item>,
  matches: (item: Item) => boolean,
  rank: ((item: Item) => number) | undefined,
): Item | undefined {
  let first: { readonly item: Item; readonly rank: number } | undefined;
  for (const item of items) {
    if (!matches(item)) continue;
    if (rank === undefined) return item;
    const own = rank(item);
    if (first === undefined || own < first.rank) first = { item, rank: own };
  }
  return first?.item;
}
