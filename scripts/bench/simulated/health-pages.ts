/**
 * The health pages of simulated members, served by a thread of their own: one process stands for thousands of members, and all of them
 * would be silent whenever it does something else for a moment.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Answer, Question } from './health-page-thread.ts';

export class HealthPages {
  readonly #thread: Worker;
  readonly #answered = new Map<number, (answer: Answer) => void>();
  readonly #failed: Promise<never>;
  #questions = 0;

  constructor() {
    this.#thread = new Worker(new URL('./health-page-thread.ts', import.meta.url));
    this.#thread.unref();
    this.#thread.on('message', (answer: Answer) => {
      this.#answered.get(answer.id)?.(answer);
      this.#answered.delete(answer.id);
    });
    this.#failed = once(this.#thread, 'error').then(([error]) => {
      throw error;
    });
    // Whoever asks next is told of it.
    this.#failed.catch(() => {});
  }

  /**
   * Somebody answers at this address from now on. Rejects when nobody can listen there.
   * @param listener the address itself, or one that stands for all
   */
  async serve(host: string, listener: string): Promise<void> {
    await this.#ask({ serve: host, listener });
  }

  /** Nobody answers at this address any more. */
  async leave(host: string): Promise<void> {
    await this.#ask({ leave: host });
  }

  /** By address, when it was first asked after a time, both in milliseconds since the epoch; without those that were not. */
  async firstAskedAfter(since: number): Promise<ReadonlyMap<string, number>> {
    const { asked } = await this.#ask({ askedAfter: since });
    return asked ?? new Map();
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }

  async #ask(question: Question): Promise<Answer> {
    this.#questions += 1;
    const id = this.#questions;
    const answer = new Promise<Answer>(resolve => this.#answered.set(id, resolve));
    this.#thread.postMessage({ ...question, id });
    const answered = await Promise.race([answer, this.#failed]);
    if (answered.error !== undefined) throw new Error(`health pages: ${answered.error}`);
    return answered;
  }
}
