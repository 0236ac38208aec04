import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { activityInterceptor } from '../../src/telemetry/activity-interceptor.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { createScrubber } from '../../src/telemetry/scrub.ts';

/** Runs an activity of the given type through the interceptor, as the worker does. */
async function run(
  metrics: Metrics,
  activityType: string,
  activity: () => Promise<unknown>,
): Promise<unknown> {
  const factory = activityInterceptor({ metrics, scrub: createScrubber(['canary-7f3a9c']) });
  // The one part of the context that it reads.
  const { inbound } = factory({ info: { activityType } } as Context);
  return inbound?.execute?.({ args: [], headers: {} }, activity);
}

const counted = async (metrics: Metrics): Promise<string> =>
  (await metrics.text())
    .split('\n')
    .filter(line => line.startsWith('etcd_operator_activity_duration_seconds_count{'))
    .join('\n');

describe('outcomes are counted', () => {
  const failures: readonly [outcome: string, error: unknown][] = [
    ['failed', new Error('no')],
    ['failed', ApplicationFailure.nonRetryable('no', 'PreconditionChanged')],
    ['waiting', ApplicationFailure.create({ message: 'not ready', category: 'BENIGN' })],
    ['cancelled', new CancelledFailure('CANCELLED')],
    ['cancelled', new DOMException('aborted', 'AbortError')],
  ];
  test.each(failures)('%s: %s', async (outcome, error) => {
    const metrics = createMetrics();
    await expect(run(metrics, 'promote', () => Promise.reject(error))).rejects.toBe(error);
    expect(await counted(metrics)).toBe(
      `etcd_operator_activity_duration_seconds_count{activity="promote",outcome="${outcome}"} 1`,
    );
  });

  test('completed, and the answer is passed on', async () => {
    const metrics = createMetrics();
    const answer = { decision: { kind: 'idle' } };
    expect(await run(metrics, 'assess', () => Promise.resolve(answer))).toBe(answer);
    expect(await counted(metrics)).toBe(
      'etcd_operator_activity_duration_seconds_count{activity="assess",outcome="completed"} 1',
    );
  });
});

test('what an activity throws is scrubbed before anyone else sees it', async () => {
  const failure = ApplicationFailure.nonRetryable('PUT https://u:canary-7f3a9c@host', 'Refused', {
    url: 'canary-7f3a9c',
  });
  const thrown = await run(createMetrics(), 'snapshot', () => Promise.reject(failure)).catch(
    (error: unknown) => error,
  );
  expect(thrown).toMatchObject({ type: 'Refused', nonRetryable: true, details: [{ url: '[redacted]' }] });
  expect(thrown instanceof Error && `${thrown.message}${thrown.stack}`).not.toContain('canary-7f3a9c');
});
