import { expect, test } from 'vitest';
import { retryUntilDone } from '../../src/main/retry.ts';

test('tries until it succeeds, with waits that double up to the greatest', async () => {
  const waits: number[] = [];
  let tries = 0;
  const result = await retryUntilDone(
    () => (++tries < 5 ? Promise.reject(new Error(`no ${tries}`)) : Promise.resolve('yes')),
    {
      signal: new AbortController().signal,
      firstMs: 1,
      maxMs: 4,
      onFailure: (_, waitMs) => waits.push(waitMs),
    },
  );
  expect(result).toBe('yes');
  expect(waits).toEqual([1, 2, 4, 4]);
});

test('ends when it is asked to, also in the middle of a wait', async () => {
  const controller = new AbortController();
  const waiting = retryUntilDone(() => Promise.reject(new Error('no')), {
    signal: controller.signal,
    firstMs: 60_000,
    maxMs: 60_000,
    onFailure: () => controller.abort(),
  });
  await expect(waiting).rejects.toThrow(/abort/);
});

test('ends when the failure is one that waiting cannot cure', async () => {
  const fatal = new Error('never');
  const waiting = retryUntilDone(() => Promise.reject(fatal), {
    signal: new AbortController().signal,
    firstMs: 1,
    maxMs: 1,
    onFailure: error => {
      throw error;
    },
  });
  await expect(waiting).rejects.toBe(fatal);
});
