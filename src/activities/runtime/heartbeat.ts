import { Context } from '@temporalio/activity';

/** Well below the heartbeat timeout that workflows set; workers send each of them (src/main/temporal/worker.ts). */
const BEAT_MS = 1_000;

/** What a long activity says of itself in its heartbeats. */
export type Pulse = { bytes?: number; total?: number; message?: string };

/** As {@link beating}, with heartbeats that say how far the activity is. */
export function beatingWithPulse<Arguments extends unknown[], Result>(
  activity: (pulse: Pulse, ...args: Arguments) => Promise<Result>,
  asFailure: (error: unknown) => unknown,
): (...args: Arguments) => Promise<Result> {
  return (...args) => {
    const pulse: Pulse = {};
    return beatWhile(() => activity(pulse, ...args), { asFailure, pulse });
  };
}

/**
 * Wraps an activity: heartbeats for as long as it runs, so that the death of this process is noticed within seconds,
 * and its errors become failures with a retry intent.
 */
export function beating<Arguments extends unknown[], Result>(
  activity: (...args: Arguments) => Promise<Result>,
  asFailure: (error: unknown) => unknown,
): (...args: Arguments) => Promise<Result> {
  return (...args) => beatWhile(() => activity(...args), { asFailure });
}

async function beatWhile<Result>(
  act: () => Promise<Result>,
  { asFailure, pulse }: { readonly asFailure: (error: unknown) => unknown; readonly pulse?: Pulse },
): Promise<Result> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(pulse), BEAT_MS);
  try {
    return await act();
  } catch (error) {
    throw asFailure(error);
  } finally {
    clearInterval(beat);
  }
}
