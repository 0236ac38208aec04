/** Time that passes only when somebody waits, and then at once. */
import type { WaitTime } from '../../src/activities/runtime/poll.ts';

export class PassingTime implements WaitTime {
  /** Milliseconds since it began. */
  passed = 0;

  now = (): number => this.passed;

  pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    await new Promise(resolve => setImmediate(resolve));
    signal.throwIfAborted();
    this.passed += ms;
  };
}
