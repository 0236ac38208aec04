/** The messages and stacks of failed activities: a codec sees payloads, and by itself the SDK sends these beside them. */
import {
  ApplicationFailure,
  CancelledFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
} from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

const converter = new DefaultFailureConverter({ encodeCommonAttributes: true });

/**
 * Moves message and stack of whatever an activity throws into a payload of the failure, which the codec encrypts. A user who has the
 * codec reads them as before; others read `Encoded failure`. The type stays readable: by it Temporal decides about retries. To be the first
 * of the interceptors, which sees the error after the others.
 */
export const sealedFailures: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (thrown) {
        throw isCancellation(thrown) ? thrown : sealed(thrown);
      }
    },
  },
});

/** The SDK sends the failure that hangs on an error as it is, and logs the error. */
function sealed(thrown: unknown): ApplicationFailure {
  const error = ApplicationFailure.fromError(thrown);
  delete error.failure;
  error.failure = converter.errorToFailure(error, defaultPayloadConverter);
  return error;
}

/** The SDK recognizes these by their class, and they say nothing. */
function isCancellation(thrown: unknown): boolean {
  return thrown instanceof CancelledFailure || (thrown instanceof Error && thrown.name === 'AbortError');
}
