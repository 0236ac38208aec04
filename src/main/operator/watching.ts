/** The watcher on the elected replica. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { readHealthPage } from '../../etcd/health-page.ts';
import { LeaseElection } from '../../kube/lease-election.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { kubeReflectors } from '../../watcher/resources/reflectors.ts';
import { createWatcher, type Watcher } from '../../watcher/watcher.ts';
import type { Config } from '../config/config.ts';
import { electionTiming } from '../config/election-timing.ts';
import { eventSink, type Kubernetes } from './kubernetes.ts';
import { Terms } from './leadership-terms.ts';

/** A leader that is not heard of loses its lease for some seconds, whoever it may be to win the next term. */
const KEEP_MS = 60_000;

/** A member that takes longer than this to say how it is counts as silent; a pass then looks with more patience. */
const askTimeoutMs = 1_000;

export interface WatchingParts {
  readonly kubernetes: Pick<Kubernetes, 'leaseClient' | 'watcherClient' | 'events'>;
  /** Asked anew for each call. */
  readonly client: () => Client;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface Watching {
  /** Whether this replica watches, or would as soon as it has listed everything. */
  leading(): boolean;
  synced(): boolean;
  /** Tells the workflow of every resource to look, and starts those that do not run; if this replica watches. */
  tellAll(): void;
  /** Ends the watcher and gives the lease back. */
  stop(): Promise<void>;
}

/** Becomes a candidate; without election, watches at once. */
export function startWatching(config: Config, parts: WatchingParts): Watching {
  const { metrics, logger } = parts;
  const watchers = new Terms({
    make: () => watcherOf(config, parts),
    logger,
    onLeading: isLeading => metrics.leader(isLeading),
    keepMs: KEEP_MS,
  });
  metrics.queueDepth(() => watchers.waiting());
  metrics.knownBackups(() => watchers.backups());
  if (!config.leaderElection) {
    watchers.begin();
    return {
      leading: () => true,
      synced: () => watchers.synced(),
      tellAll: () => watchers.renew(),
      stop: () => watchers.close(),
    };
  }
  const election = new LeaseElection({
    client: parts.kubernetes.leaseClient,
    namespace: config.pod.namespace,
    name: config.leaseName,
    identity: identity(config),
    timing: electionTiming,
    logger,
    onStartedLeading: () => watchers.begin(),
    onStoppedLeading: () => watchers.end(),
  });
  election.start();
  return {
    leading: () => election.isLeader,
    synced: () => watchers.synced(),
    tellAll: () => watchers.renew(),
    async stop() {
      await watchers.close();
      await election.stop();
    },
  };
}

/**
 * In a pod, the pod's name: a container that starts again takes its own lease back at once, and kubelet starts
 * none before the former one is dead. On a host two operators may run side by side.
 */
function identity({ inCluster, pod }: Config): string {
  return inCluster !== undefined ? pod.name : `${pod.name}_${randomUUID().slice(0, 8)}`;
}

function watcherOf(config: Config, { kubernetes, client, logger, metrics }: WatchingParts): Watcher {
  const { watchNamespace: namespace, taskQueue } = config;
  return createWatcher({
    kube: kubernetes.watcherClient,
    reflector: kubeReflectors(kubernetes.watcherClient, reflector => logger.child({ reflector })),
    client,
    ask: (host, signal) => readHealthPage(host, { timeoutMs: askTimeoutMs, signal }),
    options: { namespace, taskQueue },
    recordEvent: eventSink(kubernetes.events),
    logger,
    metrics: metrics.watcher,
  });
}
