import { ApplicationFailure, CancelledFailure, defaultPayloadConverter } from '@temporalio/common';
import type { ActivityExecuteInput, Next } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { sealedFailures } from '../../../../src/main/temporal/codec/sealed-failures.ts';

/** What leaves the interceptor when an activity throws. */
async function thrownFor(error: unknown): Promise<unknown> {
  const { inbound } = sealedFailures({} as Parameters<typeof sealedFailures>[0]);
  const next = (async () => {
    throw error;
  }) as Next<NonNullable<typeof inbound>, 'execute'>;
  return inbound
    ?.execute?.({ args: [], headers: {} } as ActivityExecuteInput, next)
    .catch((thrown: unknown) => thrown);
}

const attributesOf = (failure: ApplicationFailure['failure']): unknown =>
  failure?.encodedAttributes && defaultPayloadConverter.fromPayload(failure.encodedAttributes);

test('message and stack are in a payload, and by the rest Temporal decides as before', async () => {
  const cause = new Error('canary within');
  const error = ApplicationFailure.create({
    ...{ message: 'canary', type: 'PreconditionChanged', nonRetryable: true, cause },
  });
  const sealed = (await thrownFor(error)) as ApplicationFailure;
  // For the log of the operator itself.
  expect(sealed.message).toBe('canary');
  const { failure } = sealed;
  expect(failure).toMatchObject({
    message: 'Encoded failure',
    stackTrace: '',
    applicationFailureInfo: { type: 'PreconditionChanged', nonRetryable: true },
    cause: { message: 'Encoded failure', stackTrace: '' },
  });
  expect(attributesOf(failure)).toMatchObject({ message: 'canary' });
  expect(attributesOf(failure?.cause ?? undefined)).toMatchObject({ message: 'canary within' });
});

test('any error, thrown twice, has its own message', async () => {
  const error = new TypeError('canary');
  for (const sealed of [await thrownFor(error), await thrownFor(await thrownFor(error))])
    expect(attributesOf((sealed as ApplicationFailure).failure)).toMatchObject({ message: 'canary' });
  expect(((await thrownFor(error)) as ApplicationFailure).type).toBe('TypeError');
});

test('what says that an activity was cancelled stays as it is', async () => {
  const aborted = Object.assign(new Error('aborted'), { name: 'AbortError' });
  for (const error of [new CancelledFailure('CANCELLED'), aborted]) {
    expect(await thrownFor(error)).toBe(error);
    expect('failure' in error && error.failure !== undefined).toBe(false);
  }
});
