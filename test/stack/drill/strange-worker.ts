/** A worker of another installation of the operator, as far as Temporal sees it: it polls, and does nothing with what it gets. */
import { Connection } from '@temporalio/client';
import { workerIdentity } from '../../../src/api/values/worker-identity.ts';
import type { World } from '../e2e.ts';

const NAMESPACE = 'etcd-operator';
const TASK_QUEUE = 'etcd-operator';
/** The server ends a poll without a task after a minute. */
const POLL_MS = 90_000;

export class StrangeWorker {
  readonly #connection: Connection;
  readonly #stopping = new AbortController();
  readonly #polling: Promise<void>;

  private constructor(connection: Connection) {
    this.#connection = connection;
    this.#polling = this.#poll();
  }

  static async start({ stack }: Pick<World, 'stack'>): Promise<StrangeWorker> {
    return new StrangeWorker(await Connection.connect({ address: stack.temporalAddress }));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#polling;
    await this.#connection.close();
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    const request = {
      namespace: NAMESPACE,
      taskQueue: { name: TASK_QUEUE },
      identity: workerIdentity('etcd-operator-elsewhere', '0123456789ab'),
    };
    const poll = () => this.#connection.workflowService.pollWorkflowTaskQueue(request);
    while (!signal.aborted)
      await this.#connection
        .withDeadline(Date.now() + POLL_MS, () => this.#connection.withAbortSignal(signal, poll))
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
  }
}
