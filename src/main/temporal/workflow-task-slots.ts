/** How many workflow tasks a worker takes at once. */
import type {
  CustomSlotSupplier,
  SlotPermit,
  SlotReserveContext,
  WorkflowSlotInfo,
} from '@temporalio/worker';

/** A slot of one of the two kinds. */
interface Permit extends SlotPermit {
  readonly isSticky: boolean;
}

interface Waiting {
  readonly take: (permit: Permit) => void;
}

/** Slots of one kind: so many, and who waits for one, in order. */
class Slots {
  readonly #isSticky: boolean;
  readonly #waiting: Waiting[] = [];
  #free: number;

  constructor(isSticky: boolean, most: number) {
    this.#isSticky = isSticky;
    this.#free = most;
  }

  take(): Permit | null {
    if (this.#free === 0) return null;
    this.#free -= 1;
    return { isSticky: this.#isSticky };
  }

  wait(abort: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { take: resolve };
      this.#waiting.push(waiting);
      abort.addEventListener(
        'abort',
        () => {
          const at = this.#waiting.indexOf(waiting);
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          reject(abort.reason);
        },
        { once: true },
      );
    });
  }

  release(): void {
    this.#free += 1;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#free -= 1;
    next.take({ isSticky: this.#isSticky });
  }
}

/**
 * Many slots for the tasks of workflows that are in memory (sticky ones), and few for all others: these replay a history
 * first. After a restart that is every workflow with something to do. Replays share the processors, so each of many at once
 * ends when all of them do: past the limit of a task, and the next try begins anew. What is not admitted waits in the
 * server's queue, where no limit runs.
 */
export class WorkflowTaskSlots implements CustomSlotSupplier<WorkflowSlotInfo> {
  readonly type = 'custom';
  readonly #sticky: Slots;
  readonly #replaying: Slots;

  /** @param most how many tasks of each kind are worked on at once */
  constructor(most: { readonly sticky: number; readonly replaying: number }) {
    this.#sticky = new Slots(true, most.sticky);
    this.#replaying = new Slots(false, most.replaying);
  }

  async reserveSlot(of: SlotReserveContext, abort: AbortSignal): Promise<Permit> {
    abort.throwIfAborted();
    return this.tryReserveSlot(of) ?? this.#of(of).wait(abort);
  }

  tryReserveSlot(of: Pick<SlotReserveContext, 'isSticky'>): Permit | null {
    return this.#of(of).take();
  }

  markSlotUsed(): void {}

  releaseSlot({ permit }: { readonly permit: SlotPermit }): void {
    this.#of(permit as Permit).release();
  }

  #of({ isSticky }: Pick<Permit, 'isSticky'>): Slots {
    return isSticky ? this.#sticky : this.#replaying;
  }
}
