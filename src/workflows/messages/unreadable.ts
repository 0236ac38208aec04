/**
 * What Temporal's SDK cannot read, or refuses to hand on, counts as nothing. By itself the SDK throws, in every task from
 * then on: one signal of another SDK, of an encrypting proxy or of a mistyped command would hold up a workflow for good.
 * The SDK finds both exports by their names.
 */
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';
import { log, type WorkflowInterceptors } from '@temporalio/workflow';

/** Names of messages that begin so belong to the SDK, which throws at those that it does not know (`signalWorkflow` of its internals.ts). */
const RESERVED = '__temporal_';

/** As the SDK's own; what is in no known encoding, or is not what its encoding says, is `undefined`. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(...args: Parameters<PayloadConverter['fromPayload']>): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(...(args as [(typeof args)[0]]));
    } catch {
      // Its text would quote what was sent.
      log.warn('a message that cannot be decoded was ignored');
      return undefined as T;
    }
  },
};

/** Takes signals of reserved names out before the SDK sees them. */
export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate(input, next) {
        const { jobs } = input.activation;
        const isReserved = ({ signalWorkflow }: NonNullable<typeof jobs>[number]) =>
          signalWorkflow?.signalName?.startsWith(RESERVED) === true;
        if (jobs?.some(isReserved) === true) {
          log.warn('a signal with a reserved name was ignored');
          input.activation.jobs = jobs.filter(job => !isReserved(job));
        }
        next(input);
      },
    },
  ],
});
