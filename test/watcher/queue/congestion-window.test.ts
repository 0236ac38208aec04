import { describe, expect, test } from 'vitest';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { CongestionWindow } from '../../../src/watcher/queue/congestion-window.ts';
import { FakeClock } from '../fake-clock.ts';

const { leastAtOnce, mostAtOnce } = defaultTimings;

function newWindow() {
  const clock = new FakeClock();
  const window = new CongestionWindow(clock, defaultTimings);
  /** Answers of so many milliseconds for so many seconds, ten a second. */
  const answers = async (milliseconds: number, seconds: number): Promise<void> => {
    for (let count = 0; count < 10 * seconds; count += 1) {
      await clock.advance(100);
      window.answered(milliseconds);
    }
  };
  return { window, answers };
}

describe('how much may be under way', () => {
  test('is little at first, and grows by one a second while Temporal is fast', async () => {
    const { window, answers } = newWindow();
    expect(window.size).toBe(leastAtOnce);
    await answers(5, 20);
    expect(window.size).toBe(leastAtOnce + 20);
  });

  test('grows no further than to the most', async () => {
    const { window, answers } = newWindow();
    await answers(5, 300);
    expect(window.size).toBe(mostAtOnce);
  });

  test('is halved every two seconds while Temporal is slow, down to the least', async () => {
    const { window, answers } = newWindow();
    await answers(5, 100);
    const before = window.size;
    await answers(1_000, 3);
    expect(window.size).toBeLessThanOrEqual(before / 2);
    await answers(1_000, 30);
    expect(window.size).toBe(leastAtOnce);
  });

  test('is what it was after a single slow answer', async () => {
    const { window, answers } = newWindow();
    await answers(5, 10);
    const before = window.size;
    window.answered(900);
    await answers(5, 5);
    expect(window.size).toBeGreaterThanOrEqual(before);
  });

  test('is not small because Temporal is far away', async () => {
    const { window, answers } = newWindow();
    await answers(200, 20);
    expect(window.size).toBe(leastAtOnce + 20);
  });

  test('grows again when Temporal has recovered', async () => {
    const { window, answers } = newWindow();
    await answers(5, 1);
    await answers(1_000, 30);
    await answers(5, 30);
    expect(window.size).toBeGreaterThan(leastAtOnce + 20);
  });

  test('does not grow on no news while the last answers were slow', async () => {
    const { window, answers } = newWindow();
    await answers(5, 1);
    await answers(1_000, 30);
    window.grow();
    expect(window.size).toBe(leastAtOnce);
  });
});

describe('how long a place rests', () => {
  test('is a moment while Temporal is fast, however far away it is', async () => {
    for (const milliseconds of [3, 60]) {
      const { window, answers } = newWindow();
      expect(window.restMs).toBe(250);
      await answers(milliseconds, 10);
      expect(window.restMs).toBe(250);
    }
  });

  test('grows with how much longer signals take, up to five seconds', async () => {
    const { window, answers } = newWindow();
    await answers(10, 10);
    await answers(60, 10);
    expect(window.restMs).toBeCloseTo(2_000, -2);
    await answers(1_000, 10);
    expect(window.restMs).toBe(5_000);
    await answers(10, 20);
    expect(window.restMs).toBe(250);
  });
});
