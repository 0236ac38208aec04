import type { QueueOptions } from './queue/delivery.ts';
import type { ProberOptions } from './prober/prober.ts';
import type { PassCheckOptions } from './conditions/passes.ts';

/** All in milliseconds, except `concurrency` and `passesAtOnce`. */
export interface WatcherTimings extends QueueOptions, ProberOptions, PassCheckOptions {
  /** Of one call to Temporal. */
  readonly rpcDeadlineMs: number;
  /** In this time every resource is signalled at least once, whether or not anything changed. */
  readonly resyncMs: number;
  /** The same for restores and backups that are under way: no change in Kubernetes brings their workflow back when it is terminated. */
  readonly underWayMs: number;
  /** How long the news of a change may fail to be delivered before the resource says so. */
  readonly unavailableAfterMs: number;
  readonly reportEveryMs: number;
  readonly stuckCheckMs: number;
  /** The time between two resources that are told because they were found. */
  readonly admitEveryMs: number;
  /** A workflow that was told less than so long ago is told again only when it has got to the last one. */
  readonly acknowledgeMs: number;
  /** How long a stop waits for calls under way before it aborts them. */
  readonly stopGraceMs: number;
}

export interface WatcherOptions {
  /** One namespace; all when left out. */
  readonly namespace?: string | undefined;
  readonly taskQueue: string;
  readonly timings?: Partial<WatcherTimings> | undefined;
}

/**
 * A resync of 10 minutes: with the 10,000 signals that Temporal allows a run, even a workflow that never gets to
 * handle one is good for 69 days. The pace lets a signal follow another after 100 ms, 300 ms, 900 ms, … 3 s; what somebody waits for follows after 500 ms at the latest.
 * What is found by a start is told ten times a second, so a hundred resources within ten seconds.
 * Temporal is asked about every workflow each 20 s, about ten a second at most: more than 200 are asked less often each.
 * Every member is asked each second, up to 250 members; more are asked 250 a second.
 */
export const defaultTimings: WatcherTimings = {
  minIntervalMs: 100,
  maxIntervalMs: 3_000,
  urgentIntervalMs: 500,
  concurrency: 16,
  outageBackoff: { firstMs: 250, maxMs: 5_000 },
  keyBackoff: { firstMs: 1_000, maxMs: 60_000 },
  heldBackoff: { firstMs: 500, maxMs: 10_000 },
  rpcDeadlineMs: 5_000,
  resyncMs: 600_000,
  underWayMs: 30_000,
  unavailableAfterMs: 3_000,
  reportEveryMs: 1_000,
  stuckCheckMs: 60_000,
  admitEveryMs: 100,
  acknowledgeMs: 60_000,
  passAskMs: 20_000,
  passesAtOnce: 10,
  passRoundMs: 1_000,
  noPassAfterMs: 60_000,
  stopGraceMs: 2_000,
  askEveryMs: 1_000,
  askSpacingMs: 4,
};
