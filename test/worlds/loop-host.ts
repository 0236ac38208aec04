/** A host of loops whose clock stands still until a test moves it. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Host } from '../../src/workflows/host.ts';

interface Wait {
  readonly is: () => boolean;
  readonly until: number;
  readonly resolve: () => void;
}

export class LoopHost implements Host {
  time = 1_000_000;
  length: ReturnType<Host['history']> = 'short';
  answered = true;
  #waits: Wait[] = [];

  readonly now = (): number => this.time;
  readonly history = (): ReturnType<Host['history']> => this.length;
  readonly isEachAnswered = (): boolean => this.answered;
  readonly wait = (is: () => boolean, until: number = Number.POSITIVE_INFINITY): Promise<void> =>
    new Promise(resolve => this.#waits.push({ is, until, resolve }));

  /** Everything that can continue at this moment has gone on. */
  async settle(): Promise<void> {
    for (;;) {
      await turn();
      const over = this.#waits.filter(({ is, until }) => is() || until <= this.time);
      if (over.length === 0) return;
      this.#waits = this.#waits.filter(wait => !over.includes(wait));
      for (const { resolve } of over) resolve();
    }
  }

  async advance(ms: number): Promise<void> {
    this.time += ms;
    await this.settle();
  }

  /** When the loop continues by itself. */
  get wakesAt(): number {
    return Math.min(...this.#waits.map(({ until }) => until));
  }

  get waits(): boolean {
    return this.#waits.length > 0;
  }
}
