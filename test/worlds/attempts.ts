/** A step as Temporal has it tried, and what becomes of its failures (src/workflows/temporal/activities.ts). */
import { doneWith, type StepOutcome } from '../../src/workflows/operation.ts';
import { messageOf } from '../../src/api/values/message-of.ts';

export interface Attempts {
  readonly most: number;
  /** Throws what the activity throws. */
  readonly perform: () => Promise<unknown>;
  /** Before it is tried again. */
  readonly pause?: () => Promise<void>;
  /** Ends it in the middle. */
  readonly signal: AbortSignal;
}

/** Tries a step until it is done, fails for good, or has failed too often. */
export async function attempted({ most, perform, pause, signal }: Attempts): Promise<StepOutcome> {
  let message = 'no attempt ended';
  for (let attempt = 0; attempt < most && !signal.aborted; attempt += 1) {
    try {
      return doneWith(await perform());
    } catch (error) {
      const { type, nonRetryable } = error as { readonly type?: string; readonly nonRetryable?: boolean };
      message = messageOf(error);
      if (type === 'PreconditionChanged') return { kind: 'changed', message };
      if (nonRetryable === true) break;
      await pause?.();
    }
  }
  return { kind: signal.aborted ? 'interrupted' : 'failed', message };
}
