import { Context } from '@temporalio/activity';

/** Well below the heartbeat timeout that workflows set, of which the SDK sends one in four fifths. */
const BEAT_MS = 1_000;

/**
 * Wraps an activity: heartbeats for as long as it runs, so that the death of this process is noticed within seconds,
 * and its errors become failures with a retry intent.
 */
export function beating<Arguments extends unknown[], Result>(
  activity: (...args: Arguments) => Promise<Result>,
  asFailure: (error: unknown) => unknown,
): (...args: Arguments) => Promise<Result> {
  return async (...args) => {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), BEAT_MS);
    try {
      return await activity(...args);
    } catch (error) {
      throw asFailure(error);
    } finally {
      clearInterval(beat);
    }
  };
}
