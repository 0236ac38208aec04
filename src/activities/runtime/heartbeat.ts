import { Context } from '@temporalio/activity';

/** Well below the heartbeat timeout that workflows set; workers send each of them (src/main/temporal/worker.ts). */
const BEAT_MS = 3_000;

/** What a long activity says of itself in its heartbeats. */
export type HeartbeatDetails = { bytes?: number; total?: number; message?: string };

/** As {@link withHeartbeat}, with heartbeats that say how far the activity is. */
export function withProgressHeartbeat<Arguments extends unknown[], Result>(
  activity: (heartbeatDetails: HeartbeatDetails, ...args: Arguments) => Promise<Result>,
  asFailure: (error: unknown) => unknown,
): (...args: Arguments) => Promise<Result> {
  return (...args) => {
    const heartbeatDetails: HeartbeatDetails = {};
    return beatWhile(() => activity(heartbeatDetails, ...args), { asFailure, heartbeatDetails });
  };
}

/**
 * Wraps an activity: heartbeats for as long as it runs, so that the death of this process is noticed within seconds,
 * and its errors become failures with a retry intent.
 */
export function withHeartbeat<Arguments extends unknown[], Result>(
  activity: (...args: Arguments) => Promise<Result>,
  asFailure: (error: unknown) => unknown,
): (...args: Arguments) => Promise<Result> {
  return (...args) => beatWhile(() => activity(...args), { asFailure });
}

async function beatWhile<Result>(
  act: () => Promise<Result>,
  {
    asFailure,
    heartbeatDetails,
  }: { readonly asFailure: (error: unknown) => unknown; readonly heartbeatDetails?: HeartbeatDetails },
): Promise<Result> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(heartbeatDetails), BEAT_MS);
  try {
    return await act();
  } catch (error) {
    throw asFailure(error);
  } finally {
    clearInterval(beat);
  }
}
