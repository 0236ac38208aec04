import type { CreationLimitOptions } from './queue/creation-limit.ts';
import type { WorkQueueOptions } from './queue/work-queue.ts';
import type { MonitorOptions } from './members/monitor.ts';
import type { UnavailableOptions } from './conditions/reports.ts';

/** All in milliseconds, except `concurrency`, `creationsAtOnce` and `asksARound`. */
export interface WatcherTimings
  extends WorkQueueOptions,
    CreationLimitOptions,
    MonitorOptions,
    UnavailableOptions {
  /** So long after a start every resource is enqueued once more: a worker of the former release may have made its first reconciliation. */
  readonly againAfterMs: number;
  /** What an operation makes of its own pods is not worth a reconciliation of its cluster before so long. */
  readonly operationMs: number;
  /** How often is seen what EtcdRequests wait for, and what there is to say of Temporal and of namespaces. */
  readonly reportEveryMs: number;
  /** How often nodes are looked at that hold the data of members. */
  readonly nodesEveryMs: number;
  /** How often Temporal is asked for the workflows that run, and for the workers. */
  readonly workflowCheckMs: number;
  /** How long a stop waits for calls under way before it aborts them. */
  readonly stopGraceMs: number;
  /** After so long without a poll no worker serves the task queue. A poll takes a minute. */
  readonly noWorkerAfterMs: number;
}

export interface WatcherOptions {
  /** All when left out. */
  readonly namespaces?: readonly string[] | undefined;
  readonly taskQueue: string;
  /** Of this replica, as its workers have it (api/values/worker-identity.ts); undefined: nobody looks for other installations. */
  readonly identity?: string | undefined;
  readonly timings?: Partial<WatcherTimings> | undefined;
}

/**
 * A resource that keeps changing, or whose signals fail, is signalled after 100 ms, 200 ms, 400 ms, … 5 s. What only exists is enqueued at a start, and signalled five
 * times a second: a thousand resources within four minutes. 24 clusters are created at once, or more each minute if none of
 * them becomes available.
 * Temporal is asked each minute which workflows run; one that does not is started. The members of every cluster are surveyed each minute, up to 240 clusters; of a
 * thousand each 4 minutes (4 a second). Every member is asked each second, up to 400 members; a thousand each 2.5 s (400 a second).
 */
export const defaultTimings: WatcherTimings = {
  concurrency: 24,
  backoff: { firstMs: 100, maxMs: 5_000 },
  backgroundEveryMs: 200,
  creationsAtOnce: 24,
  creationMs: 60_000,
  againAfterMs: 300_000,
  operationMs: 10_000,
  unavailableAfterMs: 3_000,
  reportEveryMs: 1_000,
  nodesEveryMs: 10_000,
  workflowCheckMs: 60_000,
  noPassAfterMs: 60_000,
  noWorkerAfterMs: 120_000,
  monitorRoundMs: 100,
  askEveryMs: 1_000,
  asksARound: 40,
  surveyEveryMs: 60_000,
  surveyPaceMs: 250,
  stopGraceMs: 2_000,
};
