import { expect, test } from 'vitest';
import type { NativeConnection } from '@temporalio/worker';
import { together, type RunnableWorker } from '../../../src/main/temporal/worker.ts';
import { poll } from '../../stack/poll.ts';

const CHECK_MS = 5;

/** Behaves as the SDK's: `run` settles at the end of a shutdown, and not when a poll was refused for good. */
class WorkerDouble implements RunnableWorker {
  connection = undefined as unknown as NativeConnection;
  #state: ReturnType<RunnableWorker['getState']> = 'INITIALIZED';
  readonly #ended = Promise.withResolvers<void>();

  run(): Promise<void> {
    this.#state = 'RUNNING';
    return this.#ended.promise;
  }

  getState(): ReturnType<RunnableWorker['getState']> {
    return this.#state;
  }

  shutdown(): void {
    if (this.#state !== 'RUNNING') throw new Error(`Not running. Current state: ${this.#state}`);
    this.#state = 'STOPPED';
    this.#ended.resolve();
  }

  pollIsRefused(): void {
    this.#state = 'FAILED';
  }
}

test('workers end together when they are asked to', async () => {
  const [one, other] = [new WorkerDouble(), new WorkerDouble()];
  const workers = together([one, other], CHECK_MS);
  const running = workers.run();
  expect(workers.state()).toBe('RUNNING');
  workers.shutdown();
  await running;
  expect([one.getState(), other.getState()]).toEqual(['STOPPED', 'STOPPED']);
});

test('a worker whose poll was refused for good ends the other one, and its failure is reported', async () => {
  const [one, other] = [new WorkerDouble(), new WorkerDouble()];
  const workers = together([one, other], CHECK_MS);
  const running = workers.run();
  one.pollIsRefused();
  await expect(running).rejects.toThrow('a Temporal worker failed');
  expect(workers.state()).toBe('FAILED');
  expect(other.getState()).toBe('STOPPED');
  // Called again, as the process ends: nothing is left to report.
  workers.shutdown();
});

test('both refused: it is reported once, and nothing hangs', async () => {
  const [one, other] = [new WorkerDouble(), new WorkerDouble()];
  const running = together([one, other], CHECK_MS).run();
  const reported: unknown[] = [];
  running.catch((error: unknown) => reported.push(error));
  one.pollIsRefused();
  other.pollIsRefused();
  await poll(async () => reported.length > 0, { timeoutMs: 10_000 });
  expect(reported).toHaveLength(1);
});
