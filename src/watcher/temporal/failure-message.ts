/** What a failure in Temporal says, also when a codec keeps that from others. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';

type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];
type Failure = NonNullable<PendingActivity['lastFailure']>;

/** Its message, decoded if it was encoded. Undefined: it has none, or none that this client can decode. */
export async function failureMessage(
  { options }: Pick<Client, 'options'>,
  { message, encodedAttributes }: Failure,
): Promise<string | undefined> {
  if (encodedAttributes === undefined || encodedAttributes === null) return message ?? undefined;
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  let payloads = [encodedAttributes];
  try {
    for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
    const decoded = payloadConverter.fromPayload<unknown>(payloads[0] ?? encodedAttributes);
    return isAttributes(decoded) ? decoded.message : undefined;
  } catch {
    // Without its key. That there was a failure is known all the same.
    return undefined;
  }
}

/** DefaultEncodedFailureAttributes of the SDK. */
function isAttributes(decoded: unknown): decoded is { readonly message: string } {
  return (
    typeof decoded === 'object' &&
    decoded !== null &&
    'message' in decoded &&
    typeof decoded.message === 'string'
  );
}
