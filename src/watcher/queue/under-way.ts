/**
 * The resources whose workflows are at work because they were told to look. Nobody sees a workflow begin and end its pass without
 * asking Temporal, so one counts until its status is reported anew with no operation under way, or until a pass has had time enough.
 * Of one namespace there are never more than places are free, as in the queue: a storm in it leaves room for the others.
 */
import type { Clock } from '../model/ports.ts';
import type { CongestionWindow } from './congestion-window.ts';

export interface UnderWayOptions {
  /** What a pass takes that finds nothing to do, in milliseconds, besides its writes to Temporal. */
  readonly idlePassMs: number;
  /** No resource counts for longer than this, in milliseconds: what waits for a slow node hardly uses Temporal. */
  readonly underWayAtMostMs: number;
}

export interface UnderWayDeps {
  readonly window: Pick<CongestionWindow, 'size' | 'answerMs'>;
  /** Which keys share their turns: those of one namespace. */
  readonly groupOf: (key: string) => string;
  /** Whether an operation is under way on the resource, as its status says. */
  readonly isBusy: (key: string) => boolean;
  /** One more may begin. */
  readonly roomMade: () => void;
  readonly clock: Clock;
  readonly options: UnderWayOptions;
}

/** The writes to Temporal of a pass that finds nothing to do, one after the other. */
const WRITES_OF_A_PASS = 8;

export class UnderWay {
  readonly #deps: UnderWayDeps;
  /** What cancels the end of their time. */
  readonly #ends = new Map<string, () => void>();
  readonly #countOf = new Map<string, number>();

  constructor(deps: UnderWayDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Whether a resource may be told now: it is at work anyway, or there is room for it. */
  mayTell(key: string): boolean {
    if (this.#ends.has(key)) return true;
    const free = this.#deps.window.size - this.size;
    return (this.#countOf.get(this.#deps.groupOf(key)) ?? 0) < free;
  }

  /** A resource is told now. One that is told again and again does not keep its place for that. */
  told(key: string): void {
    const { clock, options, window } = this.#deps;
    if (this.#ends.has(key)) return;
    const passMs = Math.min(
      options.underWayAtMostMs,
      options.idlePassMs + WRITES_OF_A_PASS * window.answerMs,
    );
    this.#set(
      key,
      clock.after(passMs, () => this.#passed(key, options.underWayAtMostMs - passMs)),
    );
  }

  /** The status of a resource was written. */
  reported(key: string): void {
    if (!this.#deps.isBusy(key)) this.forget(key);
  }

  /** A resource is not at work any more, or gone. */
  forget(key: string): void {
    if (this.#remove(key)) this.#deps.roomMade();
  }

  stop(): void {
    for (const key of [...this.#ends.keys()]) this.#remove(key);
  }

  #passed(key: string, leftMs: number): void {
    if (leftMs <= 0 || !this.#deps.isBusy(key)) return this.forget(key);
    this.#remove(key);
    this.#set(
      key,
      this.#deps.clock.after(leftMs, () => this.forget(key)),
    );
  }

  #set(key: string, cancel: () => void): void {
    const group = this.#deps.groupOf(key);
    this.#ends.set(key, cancel);
    this.#countOf.set(group, (this.#countOf.get(group) ?? 0) + 1);
  }

  #remove(key: string): boolean {
    const cancel = this.#ends.get(key);
    if (cancel === undefined) return false;
    cancel();
    this.#ends.delete(key);
    const group = this.#deps.groupOf(key);
    const count = (this.#countOf.get(group) ?? 0) - 1;
    if (count <= 0) this.#countOf.delete(group);
    else this.#countOf.set(group, count);
    return true;
  }
}
