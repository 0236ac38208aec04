import type { QueueOptions } from './queue/delivery.ts';
import type { Positions } from './queue/told-through.ts';
import type { CongestionOptions } from './queue/congestion-window.ts';
import type { CreationsOptions } from './queue/creations.ts';
import type { RoundOptions } from './prober/rounds.ts';
import type { PassCheckOptions } from './conditions/passes.ts';
import type { ClusterSurveyOptions } from './survey/cluster-survey.ts';

/** All in milliseconds, except `concurrency`, `leastAtOnce`, `mostAtOnce`, `passesAtOnce`, `surveysARound` and `surveysRoot`. */
export interface WatcherTimings
  extends QueueOptions,
    CreationsOptions,
    CongestionOptions,
    RoundOptions,
    PassCheckOptions,
    ClusterSurveyOptions {
  /** Of one call to Temporal. */
  readonly rpcDeadlineMs: number;
  /** How often a restore or backup that is under way is told: no change in Kubernetes brings its operation back when that is terminated. */
  readonly underWayMs: number;
  /** After so long without a change nothing is remembered of the pace of a resource. */
  readonly quietMs: number;
  /** What is told of members is held for so long at most while an operation is under way on them. */
  readonly heldMs: number;
  /** How long the news of a change may fail to be delivered before the resource says so. */
  readonly unavailableAfterMs: number;
  readonly reportEveryMs: number;
  readonly stuckCheckMs: number;
  /** How often EtcdRequests are seen to. */
  readonly requestRoundMs: number;
  /** The time between two resources that are told because they were found. */
  readonly admitEveryMs: number;
  /** So long after a start without a word of the replica that watched before everything is told once more: one of another release may have made the first pass. */
  readonly againAfterMs: number;
  /**
   * How long a start waits for all lists before it tells everybody of some: as long as one request of a list may take. A busy API server
   * needs tens of seconds for those of ten thousand clusters, and to have all of these look as well would make it busier.
   */
  readonly listsMs: number;
  /** A workflow that was told less than so long ago is told again only when it has got to the last one. */
  readonly acknowledgeMs: number;
  /** How long a stop waits for calls under way before it aborts them. */
  readonly stopGraceMs: number;
}

export interface WatcherOptions {
  /** All when left out. */
  readonly namespaces?: readonly string[] | undefined;
  readonly taskQueue: string;
  /** Of this replica, as its workers have it (api/values/worker-identity.ts); undefined: nobody looks for other installations. */
  readonly identity?: string | undefined;
  /** Up to where another watcher has told everything; undefined: every workflow is told. */
  readonly told?: Positions | undefined;
  readonly timings?: Partial<WatcherTimings> | undefined;
}

/**
 * The pace lets a signal follow another after 100 ms, 300 ms, 900 ms, … 3 s; what somebody waits for follows after 500 ms at the latest.
 * What is found by a start is told ten times a second, so a hundred resources within ten seconds.
 * At first 24 clusters are created at once, of one namespace 12, or begun a minute if none of them becomes available; one more after a
 * second, 128 at most, while Temporal is as fast as ever.
 * Temporal is asked about every workflow each 20 s, about five a second at most: more than 100 are asked less often each,
 * but at least each ten minutes;
 * one that does not run is started. The members of every cluster are surveyed each minute, up to 240 clusters; of a
 * thousand each 4 minutes (4 a second), of ten thousand each 14 minutes (12 a second).
 * Every member is asked each second, up to 200 members; a thousand each 2.2 s (450 a second), thirty thousand each 12 s (2,500 a second).
 */
export const defaultTimings: WatcherTimings = {
  minIntervalMs: 100,
  maxIntervalMs: 3_000,
  urgentIntervalMs: 500,
  concurrency: 24,
  outageBackoff: { firstMs: 250, maxMs: 5_000 },
  keyBackoff: { firstMs: 1_000, maxMs: 60_000 },
  heldBackoff: { firstMs: 500, maxMs: 10_000 },
  rpcDeadlineMs: 5_000,
  underWayMs: 30_000,
  quietMs: 600_000,
  heldMs: 10_000,
  unavailableAfterMs: 3_000,
  reportEveryMs: 1_000,
  stuckCheckMs: 60_000,
  requestRoundMs: 1_000,
  admitEveryMs: 100,
  leastAtOnce: 24,
  mostAtOnce: 128,
  growEveryMs: 1_000,
  halveEveryMs: 2_000,
  creationMs: 60_000,
  acknowledgeMs: 60_000,
  passAskMs: 20_000,
  passesAtOnce: 5,
  passRoundMs: 1_000,
  noPassAfterMs: 60_000,
  surveyEveryMs: 60_000,
  surveysARound: 4,
  surveysRoot: 0.12,
  surveyRoundMs: 1_000,
  againAfterMs: 300_000,
  listsMs: 60_000,
  stopGraceMs: 2_000,
  askEveryMs: 1_000,
  roundRootMs: 70,
};
