/** When a fleet has come to rest. */
import { setTimeout as delay } from 'node:timers/promises';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { sum } from '../prometheus.ts';
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
  const begun = sum(await watching.metrics(), 'etcd_operator_process_start_time_seconds') * 1_000;
  const tellsAgain = begun + defaultTimings.againAfterMs;
  const wait = tellsAgain + TOLD_AGAIN_MS - Date.now();
  if (wait <= 0 || Date.now() + ms < tellsAgain) return;
  fleet.progress(
    `waits for ${(wait / 1_000).toFixed(0)} s: the watcher then has told of every cluster again`,
  );
  await delay(wait);
  await untilQuiet(fleet);
}
