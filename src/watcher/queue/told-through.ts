/**
 * How far everything that is watched has been told to the workflows. Whoever watches next knows by it what changed since, and need not
 * have every workflow look (docs/decisions/0090-who-watches-next-tells-what-changed.md).
 */
import type { Clock } from '../model/ports.ts';

/** By kind: the resource version up to which its objects are known. */
export type Positions = Readonly<Record<string, string>>;

export interface ToldThroughDeps {
  /** Up to where everything is known now; undefined until all is listed. */
  readonly positions: () => Positions | undefined;
  /** Since when something waits to be told, on the clock; undefined: nothing does. */
  readonly waitingSince: () => number | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export class ToldThrough {
  readonly #deps: ToldThroughDeps;
  #told: Positions | undefined;
  /** What was known at some time, of which not everything had been told. */
  #next: { readonly positions: Positions; readonly at: number } | undefined;

  constructor(deps: ToldThroughDeps) {
    this.#deps = deps;
  }

  /**
   * Up to where everything was told, or needed not to be. To be asked every few seconds: while something always waits, it follows by
   * one or two asks. Undefined until what the first lists found has been told.
   */
  read(): Positions | undefined {
    const { positions: known, waitingSince, clock } = this.#deps;
    const positions = known();
    if (positions === undefined) return this.#told;
    const since = waitingSince();
    if (since === undefined) {
      this.#told = positions;
      this.#next = undefined;
      return positions;
    }
    if (this.#next !== undefined && since > this.#next.at) {
      this.#told = this.#next.positions;
      this.#next = undefined;
    }
    this.#next ??= { positions, at: clock.now() };
    return this.#told;
  }
}

const DECIMAL = /^\d+$/;

/** Whether an object's version may be after a position. Versions of one kind can be compared as numbers (KEP-5504); what is none may be anything. */
export function isAfter(version: string | undefined, position: string | undefined): boolean {
  if (version === undefined || position === undefined) return true;
  if (!DECIMAL.test(version) || !DECIMAL.test(position)) return true;
  return BigInt(version) > BigInt(position);
}

/** Whether what is known now ends before a former position of any kind: the API server's storage was restored from a backup. */
export function isBehind(now: Positions, former: Positions): boolean {
  return Object.entries(former).some(
    ([kind, position]) => now[kind] !== position && isAfter(position, now[kind]),
  );
}
