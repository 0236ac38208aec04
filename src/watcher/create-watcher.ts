import type { Client } from '@temporalio/client';
import { defaultTimings, type WatcherOptions } from './options.ts';
import { temporalPort } from './temporal/client.ts';
import { requestPort } from './temporal/request-port.ts';
import { createWatcherOn } from './watcher.ts';
import type { Watcher, WatcherDeps } from './watcher-types.ts';

/** A watcher on a real Temporal client. */
export function createWatcher(
  deps: Omit<WatcherDeps, 'temporal' | 'requests' | 'options'> & {
    /** Asked anew for each call. */
    client: () => Client;
    options: WatcherOptions;
  },
): Watcher {
  const { client, options, ...others } = deps;
  const { rpcDeadlineMs } = { ...defaultTimings, ...options.timings };
  const temporal = temporalPort(client, { taskQueue: options.taskQueue, deadlineMs: rpcDeadlineMs });
  return createWatcherOn({ ...others, options, temporal, requests: requestPort(client) });
}
