import { setTimeout as delay } from 'node:timers/promises';

export interface PollOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  /** What to say when the time is over. */
  readonly otherwise?: () => string | Promise<string>;
}

/** Asks until the answer is not undefined (nor false), and returns it. An error of one try is a try without an answer. */
export async function poll<T>(
  ask: () => Promise<T | undefined | false>,
  { timeoutMs = 120_000, intervalMs = 100, otherwise }: PollOptions = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await ask();
      lastError = undefined;
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > end) {
      const what = (await otherwise?.()) ?? 'the condition did not come true';
      throw new Error(`after ${timeoutMs / 1000} s: ${what}`, { cause: lastError });
    }
    await delay(intervalMs);
  }
}
