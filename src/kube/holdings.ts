/**
 * How many of a number of places each key holds. A key may take a further place only while it holds fewer than are free (dynamic thresholds,
 * as switches share their buffers by them: Choudhury and Hahne 1998). Alone it has half of them, two come to have
 * a third each as theirs are given back, and so on: something is left for the next one. Nobody's share has to be configured.
 */
export class Holdings {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#total - this.#free;
  }

  /** How many a key has. */
  of(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  /** How many that key has that has the most. */
  get most(): number {
    return Math.max(0, ...this.#held.values());
  }

  mayTake(key: string): boolean {
    return this.of(key) < this.#free;
  }

  /** A key takes a place, or gives one back. */
  change(key: string, by: 1 | -1): void {
    const held = this.of(key) + by;
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#free -= by;
  }
}
