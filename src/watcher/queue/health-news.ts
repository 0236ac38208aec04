/**
 * Clusters that wait in the queue for nothing but what a member has answered. When the process or its network was held up for a moment,
 * thousands of members are silent at once, and well again before most of their clusters have had their turn: those are not looked at,
 * since the load would have more members fall silent, and so on.
 */
import type { CoalescingQueue } from './coalescing-queue.ts';

export interface HealthNewsDeps {
  readonly queue: Pick<CoalescingQueue, 'add' | 'isWaiting'>;
  /** Whether the members of a cluster are well, and its status says so. */
  readonly isAsReported: (key: string) => boolean;
}

export class HealthNews {
  readonly #deps: HealthNewsDeps;
  readonly #waiting = new Set<string>();

  constructor(deps: HealthNewsDeps) {
    this.#deps = deps;
  }

  /** A member of this cluster answers otherwise than before. */
  add(key: string): void {
    const { queue } = this.#deps;
    if (!queue.isWaiting(key)) this.#waiting.add(key);
    queue.add(key, { isBackground: true });
  }

  /** The cluster is told of something else, or is gone. */
  release(key: string): void {
    this.#waiting.delete(key);
  }

  /** The turn of this cluster has come: whether there is nothing to tell any more. */
  isRefuted(key: string): boolean {
    return this.#waiting.delete(key) && this.#deps.isAsReported(key);
  }
}
