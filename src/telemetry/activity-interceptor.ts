/** What happens around every activity: failures are scrubbed before Temporal stores them, outcomes are counted. */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { ActivityMetrics, ActivityOutcome } from './metrics.ts';
import { type Scrub, scrubError } from './scrub.ts';

/**
 * Interceptors for `WorkerOptions.interceptors.activity`. The SDK logs each outcome itself, after this, with the
 * error as it is then: a scrubbed one.
 * @param deps.scrub for the message, stack, causes and details of whatever an activity throws
 */
export function activityInterceptor(deps: {
  readonly metrics: Pick<ActivityMetrics, 'activity'>;
  readonly scrub: Scrub;
}): ActivityInterceptorsFactory {
  return (context: Context) => ({
    inbound: {
      async execute(input, next) {
        const started = performance.now();
        const count = (outcome: ActivityOutcome): void =>
          deps.metrics.activity(context.info.activityType, outcome, (performance.now() - started) / 1000);
        try {
          const result = await next(input);
          count('completed');
          return result;
        } catch (thrown) {
          count(outcomeOf(thrown));
          throw scrubError(thrown, deps.scrub);
        }
      },
    },
  });
}

function outcomeOf(thrown: unknown): ActivityOutcome {
  if (thrown instanceof CancelledFailure || (thrown instanceof Error && thrown.name === 'AbortError')) {
    return 'cancelled';
  }
  const benign =
    thrown instanceof ApplicationFailure && thrown.category === ApplicationFailureCategory.BENIGN;
  return benign ? 'waiting' : 'failed';
}
