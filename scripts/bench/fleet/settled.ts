/** When a fleet has come to rest. */
import { setTimeout as delay } from 'node:timers/promises';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { type Fleet, untilQuiet } from './fleet.ts';
import { untilWatched } from './usage.ts';

/** After the watcher has begun to tell of everything again. */
const TOLD_AGAIN_MS = 30_000;

/** Waits until the operator is quiet, and its watcher has told of everything again. */
export async function untilSettled(fleet: Fleet): Promise<void> {
  await untilQuiet(fleet);
  await untilToldAgain(fleet, Number.POSITIVE_INFINITY);
}

/**
 * A watcher tells of everything again five minutes after it began: waits until that is over, unless there are `ms` milliseconds left
 * before.
 */
export async function untilToldAgain(fleet: Fleet, ms: number): Promise<void> {
  const watching = await untilWatched(fleet.world);
  const begun = watchingSince(watching.output());
  if (begun === undefined) throw new Error('a replica watches, and has not logged since when');
  const tellsAgain = begun + defaultTimings.againAfterMs;
  const wait = tellsAgain + TOLD_AGAIN_MS - Date.now();
  if (wait <= 0 || Date.now() + ms < tellsAgain) return;
  fleet.progress(
    `waits for ${(wait / 1_000).toFixed(0)} s: the watcher then has told of every cluster again`,
  );
  await delay(wait);
  await untilQuiet(fleet);
}

/** When a replica has begun to watch, for the last time: milliseconds since the epoch, from what it has logged. */
export function watchingSince(log: string): number | undefined {
  const begun = log.split('\n').findLast(line => line.includes('"message":"leading"'));
  const [, time] = /"time":"([^"]+)"/.exec(begun ?? '') ?? [];
  return time === undefined ? undefined : Date.parse(time);
}
