/** The watcher on the elected replica. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { HealthPages } from '../../etcd/health-pages.ts';
import { LeaseElection } from '../../kube/lease-election.ts';
import { Reflector } from '../../kube/reflector.ts';
import { Surveyor } from '../../activities/observe/survey.ts';
import { createEtcdPort } from '../../etcd/adapter.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { temporalPort } from '../../watcher/temporal/client.ts';
import { createWatcher } from '../../watcher/watcher.ts';
import type { Watcher } from '../../watcher/watcher-types.ts';
import type { Config } from '../config/config.ts';
import { electionTiming } from '../config/election-timing.ts';
import { eventSink, type Kubernetes } from './kubernetes.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { ENGINE_GENERATION } from '../../api/values/engine-generation.ts';
import { retryUntilDone } from '../retry.ts';
import { terminateOtherGenerations } from '../temporal/generations.ts';
import { LeaderWatcher } from './leader-watcher.ts';

/** A leader that is not heard of loses its lease for some seconds, and may win the next term itself. */
const KEEP_MS = 60_000;

/** A member that takes longer to say how it is counts as silent; a pass then looks with more patience. */
const HEALTH_TIMEOUT_MS = 1_500;

export interface WatchingParts {
  readonly kubernetes: Pick<Kubernetes, 'client' | 'leaseClient' | 'watcherClient' | 'events'>;
  /** Asked again for each call. */
  readonly client: () => Client;
  /** Of this replica, as its workers have it. */
  readonly identity: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface Watching {
  /** Whether this replica watches, or would as soon as it has listed everything. */
  leading(): boolean;
  synced(): boolean;
  /** Signals the workflow of every resource, and starts those that do not run; if this replica watches. */
  renewAll(): void;
  /** Ends the watcher and gives the lease back. */
  stop(): Promise<void>;
}

/** Becomes a candidate; without election, watches at once. */
export function startWatching(config: Config, parts: WatchingParts): Watching {
  const { metrics, logger } = parts;
  const watcher = new LeaderWatcher({
    make: () => watcherOf(config, parts),
    prepare: (signal, isResumed) =>
      endOtherGenerations(config, parts, { signal, isLate: isResumed, renew: () => watcher.renew() }),
    logger,
    onLeading: isLeading => metrics.leader(isLeading),
    keepMs: KEEP_MS,
  });
  metrics.queueDepth(() => watcher.current?.stats().waiting ?? 0);
  metrics.unwatchedNamespaces(() => watcher.current?.stats().unwatchedNamespaces ?? 0);
  metrics.knownClusters(() => watcher.current?.clusters() ?? []);
  metrics.knownRequests(() => watcher.current?.stats().requests);
  metrics.knownBackups(() => watcher.current?.backups() ?? []);
  metrics.knownConditions(() => watcher.current?.conditions() ?? []);
  if (!config.leaderElection) {
    watcher.begin();
    return {
      leading: () => true,
      synced: () => watcher.current?.synced() ?? false,
      renewAll: () => watcher.renew(),
      stop: () => watcher.close(),
    };
  }
  const election = new LeaseElection({
    client: parts.kubernetes.leaseClient,
    namespace: config.pod.namespace,
    name: config.leaseName,
    identity: candidateOf(config),
    timing: electionTiming,
    logger,
    onStartedLeading: () => watcher.begin(),
    onStoppedLeading: () => watcher.end(),
  });
  election.start();
  return {
    leading: () => election.isLeader,
    synced: () => watcher.current?.synced() ?? false,
    renewAll: () => watcher.renew(),
    async stop() {
      await watcher.close();
      await election.stop();
    },
  };
}

/** A watcher does not wait longer for Temporal: it is what reports that Temporal is away. */
const PREPARE_MS = 15_000;

/**
 * Terminates the runs of other generations of the workflows' code. When Temporal is away, that is done when it is back: `renew` then has
 * every resource listed again, since what was sent to those runs is lost with them.
 * @param term `signal`: ends it, since another replica leads; `isLate`: this one watches already
 */
async function endOtherGenerations(
  { taskQueue }: Config,
  { client, logger }: WatchingParts,
  term: { readonly signal: AbortSignal; readonly isLate: boolean; readonly renew: () => void },
): Promise<void> {
  const { signal, renew } = term;
  let { isLate } = term;
  const options = {
    taskQueue,
    generation: ENGINE_GENERATION,
    signal,
    pause: () => pause(1_000, undefined, { signal }),
  };
  const done = retryUntilDone(() => terminateOtherGenerations(client(), options), {
    signal,
    firstMs: 1_000,
    maxMs: 30_000,
    onFailure(error, waitMs) {
      if (!signal.aborted)
        logger.warn('workflows of other generations could not be listed and terminated', { error, waitMs });
    },
  }).then(
    terminated => {
      if (terminated === 0) return;
      logger.info('terminated the workflows of other generations', {
        terminated,
        generation: ENGINE_GENERATION,
      });
      if (isLate) renew();
    },
    // The operator ends, or leads no more.
    () => undefined,
  );
  await Promise.race([done, pause(PREPARE_MS, undefined, { ref: false })]);
  isLate = true;
}

/**
 * In a pod, the pod's name: a container that starts again takes its own lease back at once, and kubelet starts
 * none before the former one is dead. On a host two operators may run side by side.
 */
function candidateOf({ inCluster, pod }: Config): string {
  return inCluster !== undefined ? pod.name : `${pod.name}_${randomUUID().slice(0, 8)}`;
}

function watcherOf(
  config: Config,
  { kubernetes, client, identity, logger, metrics }: WatchingParts,
): Watcher {
  const { watchNamespaces: namespaces, taskQueue } = config;
  return createWatcher({
    kube: kubernetes.watcherClient,
    reflector: options =>
      new Reflector({
        client: kubernetes.watcherClient,
        logger: logger.child({ reflector: options.kind.kind }),
        ...options,
      }),
    temporal: temporalPort(client, { taskQueue }),
    health: () => new HealthPages({ timeoutMs: HEALTH_TIMEOUT_MS }),
    surveyor: new Surveyor({ kube: kubernetes.client, etcd: createEtcdPort() }),
    options: { namespaces, taskQueue, identity },
    recordEvent: eventSink(kubernetes.events),
    logger,
    metrics: metrics.watcher,
  });
}
