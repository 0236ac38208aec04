import type { Clock } from './ports.ts';

export interface Loop {
  /** Final. Raises the signal of the round under way, if any, and resolves when that has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `round` again and again, each time so many milliseconds after the last has ended (the first after as
 * many from now). What a round rejects with goes to `onError`, and the loop goes on.
 */
export function startLoop(how: {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly round: (abort: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
}): Loop {
  const abort = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let cancel = (): void => {};
  const schedule = (): void => {
    if (abort.signal.aborted) return;
    cancel = how.clock.after(how.everyMs, () => {
      running = how.round(abort.signal).catch(how.onError).then(schedule);
    });
  };
  schedule();
  return {
    async stop() {
      abort.abort();
      cancel();
      await running;
    },
  };
}
