/**
 * When which fault happens. The schedule has a chance of its own and counts the ticks of storms only, so that leaving a fault
 * out moves no other: that is how failures are shrunk.
 */
import { FAULTS, type FaultName, WEIGHTS } from './faults.ts';
import { Random } from './random.ts';

/** Ticks of a storm between two faults, on average. */
const GAP = 55;
/** Ticks of one storm, on average. */
const STORM = 1_500;

/** One fault that is to happen. Its own chance decides whom it hits. */
export interface Planned {
  /** Counted from 1 within a world. */
  readonly ordinal: number;
  readonly name: FaultName;
  readonly random: Random;
}

export class Chaos {
  readonly #seed: number;
  readonly #random: Random;
  readonly #only: ReadonlySet<number> | undefined;
  readonly #names: FaultName[];
  #ordinal = 0;
  #ticks = 0;
  #next: number;

  /** `only`: the ordinals of the faults that happen; all when left out. */
  constructor(seed: number, only: ReadonlySet<number> | undefined) {
    this.#seed = seed;
    this.#only = only;
    this.#random = new Random(seed ^ 0x5eed);
    // Each world has its own mixture: rare things happen together in some, and alone in others.
    this.#names = (Object.keys(FAULTS) as FaultName[])
      .filter(() => this.#random.chance(0.6))
      .flatMap(name => Array.from({ length: WEIGHTS[name] ?? 1 }, () => name));
    this.#next = this.#gap();
  }

  /** How many ticks the next storm takes. */
  storm(): number {
    return this.#random.below(2 * STORM);
  }

  /** The fault of this tick of a storm; undefined when there is none. */
  tick(): Planned | undefined {
    this.#ticks += 1;
    if (this.#ticks < this.#next) return undefined;
    this.#next = this.#ticks + this.#gap();
    this.#ordinal += 1;
    const name = this.#random.pick(this.#names);
    const ordinal = this.#ordinal;
    if (name === undefined || this.#only?.has(ordinal) === false) return undefined;
    return { ordinal, name, random: new Random(Math.imul(this.#seed, 31) + ordinal) };
  }

  #gap(): number {
    return 1 + Math.floor(-Math.log(1 - this.#random.next()) * GAP);
  }
}
