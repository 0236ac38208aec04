import type { Client } from '@temporalio/client';
import { defaultTimings, type WatcherOptions } from './options.ts';
import { temporalPort } from './temporal/client.ts';
import { createWatcherOn } from './watcher.ts';
import type { Watcher, WatcherDeps } from './watcher-types.ts';

/** A watcher on a real Temporal client. */
export function createWatcher(
  deps: Omit<WatcherDeps, 'temporal' | 'options'> & {
    /** Asked anew for each call. */
    client: () => Client;
    options: WatcherOptions;
  },
): Watcher {
  const { client, options, ...others } = deps;
  const { rpcDeadlineMs } = { ...defaultTimings, ...options.timings };
  const temporal = temporalPort(client, { taskQueue: options.taskQueue, deadlineMs: rpcDeadlineMs });
  return createWatcherOn({ ...others, options, temporal });
}
