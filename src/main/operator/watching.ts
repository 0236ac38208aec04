/** The watcher on the elected replica. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { HealthPages } from '../../etcd/health-pages.ts';
import { LeaseElection } from '../../kube/lease-election.ts';
import { Surveyor } from '../../activities/observe/survey.ts';
import { createEtcdPort } from '../../etcd/adapter.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { kubeReflectors } from '../../watcher/resources/reflectors.ts';
import { createWatcher } from '../../watcher/create-watcher.ts';
import type { PassTimes } from '../../watcher/queue/pass-times.ts';
import type { Positions } from '../../watcher/queue/told-through.ts';
import type { Watcher } from '../../watcher/watcher.ts';
import type { Config } from '../config/config.ts';
import { electionTiming } from '../config/election-timing.ts';
import { openFilesLimit } from './open-files.ts';
import { eventSink, type Kubernetes } from './kubernetes.ts';
import { LeaderWatcher } from './leader-watcher.ts';
import { NOTHING_TOLD, noteOf, programOf, toldBefore } from './told-note.ts';

/** A leader that is not heard of loses its lease for some seconds, whoever it may be to win the next term. */
const KEEP_MS = 60_000;

/**
 * A member that takes longer than a second to say how it is counts as silent; a pass then looks with more patience. Connections take no
 * more than half of the files that this process may open.
 */
function healthConnections(): { timeoutMs: number; mostKept: number; keptForMs: number } {
  const mostKept = Math.min(32_768, Math.floor(openFilesLimit() / 2));
  return { timeoutMs: 1_000, mostKept, keptForMs: 60_000 };
}

export interface WatchingParts {
  readonly kubernetes: Pick<Kubernetes, 'client' | 'leaseClient' | 'watcherClient' | 'events'>;
  /** Asked anew for each call. */
  readonly client: () => Client;
  /** Of this replica, as its workers have it. */
  readonly identity: string;
  /** Of this replica's passes. */
  readonly passTimes: Pick<PassTimes, 'restMs'>;
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
  const watcher = new LeaderWatcher({
    make: told => watcherOf(config, parts, told),
    logger,
    onLeading: isLeading => metrics.leader(isLeading),
    keepMs: KEEP_MS,
  });
  metrics.queueDepth(() => watcher.waiting());
  metrics.unwatchedNamespaces(() => watcher.unwatchedNamespaces());
  metrics.knownClusters(() => watcher.clusters());
  metrics.knownRequests(() => watcher.requests());
  metrics.knownBackups(() => watcher.backups());
  metrics.knownConditions(() => watcher.conditions());
  if (!config.leaderElection) {
    watcher.begin();
    return {
      leading: () => true,
      synced: () => watcher.synced(),
      tellAll: () => watcher.renew(),
      stop: () => watcher.close(),
    };
  }
  const program = programWhenNeeded(config, logger);
  // What the next one begins with, should this one not get to tell anything.
  let before: Positions | undefined;
  const election = new LeaseElection({
    client: parts.kubernetes.leaseClient,
    namespace: config.pod.namespace,
    name: config.leaseName,
    identity: candidateOf(config),
    timing: electionTiming,
    logger,
    annotations: () => {
      const told = watcher.told() ?? before;
      return program.known === undefined ? undefined : told && noteOf(program.known, told);
    },
    onStartedLeading: (leading, taken) => {
      void program.find().then(id => {
        if (leading.aborted) return;
        before = toldBefore(id, taken);
        watcher.begin(before);
      });
    },
    onStoppedLeading: () => watcher.end(),
  });
  election.start();
  return {
    leading: () => election.isLeader,
    synced: () => watcher.synced(),
    tellAll() {
      before = NOTHING_TOLD;
      watcher.renew();
    },
    async stop() {
      await watcher.close();
      await election.stop();
    },
  };
}

/**
 * In a pod, the pod's name: a container that starts again takes its own lease back at once, and kubelet starts
 * none before the former one is dead. On a host two operators may run side by side.
 */
function candidateOf({ inCluster, pod }: Config): string {
  return inCluster !== undefined ? pod.name : `${pod.name}_${randomUUID().slice(0, 8)}`;
}

/** What tells this program from others: found out by the first term, since a start must be quick. */
function programWhenNeeded(config: Config, logger: Logger) {
  const folder = import.meta.filename.endsWith('.js') ? import.meta.dirname : undefined;
  const program = {
    known: undefined as string | undefined,
    async find(): Promise<string> {
      program.known ??= await programOf(config, folder).catch((error: unknown) => {
        logger.warn('the program cannot be told from others: every workflow looks once', { error });
        return randomUUID();
      });
      return program.known;
    },
  };
  return program;
}

function watcherOf(
  config: Config,
  { kubernetes, client, identity, passTimes, logger, metrics }: WatchingParts,
  told: Positions | undefined,
): Watcher {
  const { watchNamespaces: namespaces, taskQueue } = config;
  return createWatcher({
    kube: kubernetes.watcherClient,
    reflector: kubeReflectors(kubernetes.watcherClient, reflector => logger.child({ reflector })),
    client,
    health: onEnded => new HealthPages({ ...healthConnections(), onEnded }),
    passTimes,
    surveyor: new Surveyor({ kube: kubernetes.client, etcd: createEtcdPort() }),
    options: { namespaces, taskQueue, identity, told },
    recordEvent: eventSink(kubernetes.events),
    logger,
    metrics: metrics.watcher,
  });
}
