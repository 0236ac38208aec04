/** Keys that may be processed now: by priority, and of one priority the namespaces by turns, each in the order of arrival. */
import type { Priority } from './work-queue.ts';

export class ReadyKeys {
  readonly #namespaceOf: (key: string) => string;
  /** By namespace; the namespace whose turn is next comes first. */
  readonly #keys: Readonly<Record<Priority, Map<string, Set<string>>>> = {
    work: new Map(),
    background: new Map(),
  };

  constructor(namespaceOf: (key: string) => string) {
    this.#namespaceOf = namespaceOf;
  }

  /** Adds a key once; one that is there already keeps its place, unless its priority has risen. */
  add(key: string, priority: Priority): void {
    if (priority === 'work') this.#delete(key, 'background');
    else if (this.#keys.work.get(this.#namespaceOf(key))?.has(key) === true) return;
    const namespace = this.#namespaceOf(key);
    const keys = this.#keys[priority].get(namespace);
    if (keys === undefined) this.#keys[priority].set(namespace, new Set([key]));
    else keys.add(key);
  }

  hasAny(priority: Priority): boolean {
    return this.#keys[priority].size > 0;
  }

  /** Takes out the next key. */
  take(priority: Priority): string | undefined {
    const [first] = this.#keys[priority];
    if (first === undefined) return undefined;
    const [namespace, keys] = first;
    const [key] = keys;
    this.#keys[priority].delete(namespace);
    if (key !== undefined) keys.delete(key);
    if (keys.size > 0) this.#keys[priority].set(namespace, keys);
    return key;
  }

  #delete(key: string, priority: Priority): void {
    const namespace = this.#namespaceOf(key);
    const keys = this.#keys[priority].get(namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys[priority].delete(namespace);
  }
}
