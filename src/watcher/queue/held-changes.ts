/**
 * What Kubernetes and the health pages tell of the members of a cluster while an operation is under way on it. The operation makes and
 * moves its members itself and looks at what becomes of them, and its workflow makes a pass when it has ended: to be told of each pod that starts
 * would wake it for nothing. So these changes are held until the status says that the operation has ended. Then they are told, unless
 * every member is as the status says. What people ask for, and what is deleted, is never held.
 */
import type { StoreChange } from '../../kube/store.ts';
import type { Clock } from '../model/ports.ts';
import { isOfOperation } from '../resources/event-filter.ts';
import type { KnownResource, KnownResources } from '../resources/known-resources.ts';

export interface HeldChangesDeps {
  readonly known: KnownResources;
  /** Whether the members of a cluster are well, and its status says so. */
  readonly isAsReported: (key: string) => boolean;
  readonly clock: Clock;
  readonly tell: (key: string) => void;
}

export class HeldChanges {
  readonly #deps: HeldChangesDeps;
  /** By key of the cluster: since when, on the clock of the watcher. */
  readonly #since = new Map<string, number>();

  constructor(deps: HeldChangesDeps) {
    this.#deps = deps;
  }

  /**
   * Whether a change of this cluster is held; else it is to be told.
   * @param change undefined: of the health of a member
   */
  hold(key: string, change?: StoreChange): boolean {
    const resource = this.#deps.known.get(key);
    const mayWait = change === undefined || isOfOperation(change);
    if (!mayWait || !isBusy(resource)) return false;
    if (!this.#since.has(key)) this.#since.set(key, this.#deps.clock.now());
    return true;
  }

  /** Since when the oldest of what is held is held, on the clock of the watcher; undefined: nothing is. */
  since(): number | undefined {
    return this.#since.size === 0 ? undefined : Math.min(...this.#since.values());
  }

  /** The cluster was told of something, or is gone: nothing is held any more. */
  release(key: string): void {
    this.#since.delete(key);
  }

  /** The cluster was written: if nothing is under way any more, what was held is told unless the status says the same. */
  settle(key: string): void {
    const resource = this.#deps.known.get(key);
    if (resource === undefined || isBusy(resource) || !this.#since.delete(key)) return;
    if (!this.#deps.isAsReported(key)) this.#deps.tell(key);
  }

  /** Tells what has been held for so long: the operation may have come to nothing. */
  tellHeldFor(milliseconds: number): void {
    const limit = this.#deps.clock.now() - milliseconds;
    for (const [key, since] of [...this.#since]) if (since <= limit) this.#deps.tell(key);
  }
}

/** Whether an operation is under way on a cluster that waits for nothing but its own steps. */
function isBusy(resource: KnownResource | undefined): boolean {
  const cluster = resource?.cluster;
  return cluster?.operation !== undefined && cluster.isHeldUp !== true;
}
