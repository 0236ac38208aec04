/**
 * Runs activities outside of a worker, in the context that they find in one: heartbeats are counted, cancellation
 * reaches the signal. What @temporalio/testing's environment does, as far as our activities can say.
 */
import { asyncLocalStorage, CancelledFailure, Context, type Info } from '@temporalio/activity';

const INFO = { activityType: 'test', attempt: 1, taskQueue: 'test', inWorkflow: true } as unknown as Info;

export class ActivityEnvironment {
  heartbeats = 0;
  readonly #info: Info;
  readonly #controller = new AbortController();
  readonly #cancelled = new Promise<never>((_, reject) => {
    this.#controller.signal.addEventListener('abort', () => reject(this.#controller.signal.reason as Error));
  });

  constructor({ attempt = 1 }: { readonly attempt?: number } = {}) {
    this.#info = { ...INFO, attempt };
    this.#cancelled.catch(() => undefined);
  }

  /** Calls `activity` as a worker would. */
  run<Arguments extends unknown[], Result>(
    activity: (...args: Arguments) => Promise<Result>,
    ...args: Arguments
  ): Promise<Result> {
    return asyncLocalStorage.run(this.#context(), () => activity(...args));
  }

  /** Asks the activity to end, as a worker that shuts down does. */
  cancel(): void {
    this.#controller.abort(new CancelledFailure('WORKER_SHUTDOWN'));
  }

  #context(): Context {
    const beat = () => void (this.heartbeats += 1);
    const arguments_ = [
      this.#info,
      this.#cancelled,
      this.#controller.signal,
      beat,
      undefined,
      console,
      undefined,
      {},
    ];
    // The class is made by the worker only; its constructor's types are no part of the SDK's interface.
    return Reflect.construct(Context, arguments_) as Context;
  }
}
