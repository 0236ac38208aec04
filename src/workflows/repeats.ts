/**
 * A repair that is undone again and again: somebody, or another controller, keeps changing the same object. Each repair begins a workflow
 * and writes to the API server, so after a few of them the next one waits, ever longer. Pure.
 */
import type { Decision } from '../activities/index.ts';
import { type Backoff, backoffMs } from '../api/values/backoff.ts';

type Step = Extract<Decision, { kind: 'operate' }>['step'];

/** What was done last, how often in a row, and when it was begun last, in milliseconds since the epoch. */
export interface Repeats {
  readonly of: string;
  readonly times: number;
  readonly at: number;
  /** How long that took; undefined while it is under way. */
  readonly tookMs?: number;
  /** How often in a row it had to be done again as soon as it was done. */
  readonly undone?: number;
}

/** What the world refuses, or leaves as it is, this often in a row is not getting anywhere. */
export const TRIES = 5;
/** What takes no longer is no sign that there is too much to do. */
export const SHORT_MS = 1_000;

/** Whether a step puts back what somebody may change again at once. What follows the members does not wait: until then too many may be evicted. */
export function isPutBack(step: Step): boolean {
  return step.kind === 'applyObjects' && !step.objects.every(({ follows }) => follows === true);
}

/** So many in a row are begun at once: a person who tries something is answered at once. */
const AT_ONCE = 3;
/** What was done longer ago than this does not count. */
const FORGOTTEN_AFTER_MS = 120_000;
const PAUSE: Backoff = { firstMs: 2_000, maxMs: 30_000 };

/** Until when what is to be done waits, in milliseconds since the epoch; undefined: it is done now. */
export function waitsUntil(repeats: Repeats | undefined, of: string, now: number): number | undefined {
  const until = Math.max(pausedUntil(repeats, of, now) ?? now, pacedUntil(repeats, now) ?? now);
  return until > now ? until : undefined;
}

function pausedUntil(repeats: Repeats | undefined, of: string, now: number): number | undefined {
  const before = inARow(repeats, of, now);
  if (before === undefined || before.times < AT_ONCE) return undefined;
  const until = before.at + backoffMs(PAUSE, before.times - AT_ONCE + 1);
  return until > now ? until : undefined;
}

/** For so many times as long as it took beyond that, the next time waits, and so long at most. */
const PROPORTION = { times: 20, mostMs: 60_000 };
/** Of a pause, this much may be left out. */
const SPREAD = 0.5;

/**
 * Until when what may be done again and again waits because the last time took long, whatever was to be mended then: in a storm a hundred
 * clusters want the same of the same database, and those that need little get it sooner. In milliseconds since the epoch; undefined:
 * it is done now.
 */
export function pacedUntil(repeats: Repeats | undefined, now: number): number | undefined {
  if (repeats?.tookMs === undefined) return undefined;
  const { at, tookMs } = repeats;
  const pauseMs = Math.min(PROPORTION.mostMs, PROPORTION.times * Math.max(0, tookMs - SHORT_MS));
  const until = at + tookMs + pauseMs * (1 - SPREAD * fractionOf(at));
  return until > now ? until : undefined;
}

/**
 * From 0 to 1, another one for each time: what begins to wait at one moment, as in the first seconds of a storm, goes on at many. A
 * workflow must come to the same each time it is replayed, so chance is taken from the clock it began by.
 */
function fractionOf(at: number): number {
  return (Math.floor(at) % 1_000) / 1_000;
}

/** Whether nothing has to wait, and it did not have to be done again as soon as it was done so often that the next try is the last. */
export function repeatsAtOnce(repeats: Repeats | undefined, now: number): boolean {
  if (repeats === undefined || now - repeats.at >= FORGOTTEN_AFTER_MS) return true;
  const { of, undone = 0 } = repeats;
  const isPaused = pausedUntil(repeats, of, now) !== undefined;
  return undone < TRIES - 1 && !isPaused && pacedUntil(repeats, now) === undefined;
}

/** What is remembered when what was begun has ended now. `isUndone`: it has to be done again. */
export function over(repeats: Repeats | undefined, isUndone: boolean, now: number): Repeats | undefined {
  if (repeats === undefined || repeats.tookMs !== undefined) return repeats;
  const { undone = 0, ...before } = repeats;
  return { ...before, tookMs: now - repeats.at, ...(isUndone && { undone: undone + 1 }) };
}

/** What is remembered when it is done now. */
export function repeated(repeats: Repeats | undefined, of: string, now: number): Repeats {
  const { times = 0, undone } = inARow(repeats, of, now) ?? {};
  return { of, times: times + 1, at: now, ...(undone !== undefined && { undone }) };
}

function inARow(repeats: Repeats | undefined, of: string, now: number): Repeats | undefined {
  return repeats?.of === of && now - repeats.at < FORGOTTEN_AFTER_MS ? repeats : undefined;
}
