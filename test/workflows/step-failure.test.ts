import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { messageOfFailure } from '../../src/workflows/temporal/step-failure.ts';

/** As server 1.32 sends it when an attempt hangs past its limit (recorded from its development server). */
function outOfTime(cause?: object): ActivityFailure {
  const sent = {
    message:
      'Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying',
    source: 'Server',
    timeoutFailureInfo: { timeoutType: 3 },
    ...(cause && { cause }),
  };
  const error = new DefaultFailureConverter().failureToError(sent, defaultPayloadConverter);
  return failed(error);
}

function failed(cause: Error): ActivityFailure {
  return new ActivityFailure(
    'Activity task timed out',
    'restartMember',
    '1',
    RetryState.TIMEOUT,
    'me',
    cause,
  );
}

describe('the message of an activity that ran out of time', () => {
  it('is what the last attempt that reported anything said', () => {
    const cause = { message: 'pods "example-0" is forbidden: exceeded quota', applicationFailureInfo: {} };
    expect(messageOfFailure(outOfTime(cause), 50)).toBe(
      'pods "example-0" is forbidden: exceeded quota (the attempt after this error did not end within its time of 50 s)',
    );
  });

  it('is the innermost error where errors have causes', () => {
    const cause = { message: 'pass failed', cause: { message: 'connection refused' } };
    expect(messageOfFailure(outOfTime(cause), 50)).toMatch(/^connection refused \(/);
  });

  it('says where to look when no attempt reported an error', () => {
    const message = messageOfFailure(outOfTime(), 50);
    expect(message).toMatch(/^it did not end within its time of 50 s, and no attempt reported an error: /);
    expect(message).not.toContain('ScheduleToClose');
    expect(messageOfFailure(outOfTime({ message: '' }), 50)).toBe(message);
    expect(messageOfFailure(failed(new TimeoutFailure(undefined, undefined, 'HEARTBEAT')), 50)).toBe(message);
  });

  it('is the error itself where an attempt ended the retries', () => {
    const cause = ApplicationFailure.nonRetryable('services is forbidden');
    expect(messageOfFailure(failed(cause), 50)).toBe('services is forbidden');
  });
});
