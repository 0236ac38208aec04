/** The bounds of a call. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startBounds } from '../../src/store/bounds.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('a deadline beyond what a timer takes does not end the call at once', () => {
  const month = 30 * 24 * 3_600_000;
  const bounds = startBounds('putting a', { deadlineMs: month });
  vi.advanceTimersByTime(3_600_000);
  expect(bounds.broken()).toBeUndefined();
  vi.advanceTimersByTime(month);
  expect(bounds.broken()).toMatchObject({ code: 'timeout' });
  bounds.release();
});
