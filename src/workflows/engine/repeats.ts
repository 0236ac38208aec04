/**
 * A repair that is undone again and again: somebody, or another controller, keeps changing the same object. Each repair begins a workflow
 * and writes to the API server, so after a few of them the next one waits, ever longer. Pure.
 */
import { type Backoff, backoffMs } from '../../api/values/backoff.ts';

/** What was done last, how often in a row, and when it was begun last, in milliseconds since the epoch. */
export interface Repeats {
  readonly of: string;
  readonly times: number;
  readonly at: number;
}

/** So many in a row are begun at once: a person who tries something is answered at once. */
const AT_ONCE = 3;
/** What was done longer ago than this does not count. */
const FORGOTTEN_AFTER_MS = 120_000;
const PAUSE: Backoff = { firstMs: 2_000, maxMs: 30_000 };

/** Until when what is to be done waits, in milliseconds since the epoch; undefined: it is done now. */
export function pausedUntil(repeats: Repeats | undefined, of: string, now: number): number | undefined {
  const before = inARow(repeats, of, now);
  if (before === undefined || before.times < AT_ONCE) return undefined;
  const until = before.at + backoffMs(PAUSE, before.times - AT_ONCE + 1);
  return until > now ? until : undefined;
}

/** What is remembered when it is done now. */
export function repeated(repeats: Repeats | undefined, of: string, now: number): Repeats {
  return { of, times: (inARow(repeats, of, now)?.times ?? 0) + 1, at: now };
}

function inARow(repeats: Repeats | undefined, of: string, now: number): Repeats | undefined {
  return repeats?.of === of && now - repeats.at < FORGOTTEN_AFTER_MS ? repeats : undefined;
}
