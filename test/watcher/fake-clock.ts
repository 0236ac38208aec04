import type { Clock } from '../../src/watcher/model/ports.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until it is advanced, with its own repeatable chance. */
export class FakeClock implements Clock {
  #now = 0;
  #timers: Timer[] = [];
  #order = 0;
  #seed: number;

  constructor(seed = 1) {
    this.#seed = seed;
  }

  now(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(Date.UTC(2026, 0, 1) + this.#now);
  }

  /** mulberry32 */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, milliseconds), order: this.#order++, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter(other => other !== timer);
    };
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Lets so many milliseconds pass: timers run in order, and what they set in motion settles in between. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settle();
    for (let timer = this.#due(end); timer !== undefined; timer = this.#due(end)) {
      const fired = timer;
      this.#timers = this.#timers.filter(other => other !== fired);
      this.#now = Math.max(this.#now, fired.at);
      fired.run();
      await settle();
    }
    this.#now = end;
  }

  /** A promise that resolves after so many milliseconds of this clock. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      this.after(milliseconds, resolve);
    });
  }

  #due(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    }
    return next;
  }
}

/** All promise reactions that are due have run: they come before any immediate. */
function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
