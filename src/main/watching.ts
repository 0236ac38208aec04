/** The watcher on the elected replica: a new one each time that this replica is elected. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { readHealthPage } from '../etcd/health-page.ts';
import { LeaseElection } from '../kube/lease-election.ts';
import type { KubeClient } from '../kube/port.ts';
import { Reflector } from '../kube/reflector.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ReflectorFactory } from '../watcher/ports.ts';
import { createWatcher, type Watcher } from '../watcher/watcher.ts';
import type { Config } from './config.ts';
import { electionTiming } from './election-timing.ts';
import type { Kubernetes } from './kubernetes.ts';

/** A member that takes longer than this to say how it is counts as silent; a pass then looks with more patience. */
const askTimeoutMs = 1_000;

export interface WatchingParts {
  readonly kubernetes: Pick<Kubernetes, 'leaseClient' | 'watcherClient'>;
  readonly client: Client;
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
  const watchers = new Watchers(config, parts);
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
    logger: parts.logger,
    onStartedLeading: () => watchers.begin(),
    onStoppedLeading: () => void watchers.end(),
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

/** The watcher of the current term, if there is one, and the ends of former ones. */
class Watchers {
  readonly #config: Config;
  readonly #parts: WatchingParts;
  #current: Watcher | undefined;
  #ending: Promise<void> = Promise.resolve();
  #final = false;

  constructor(config: Config, parts: WatchingParts) {
    this.#config = config;
    this.#parts = parts;
    parts.metrics.queueDepth(() => this.#current?.stats().waiting ?? 0);
  }

  begin(): void {
    if (this.#final) return;
    const { kubernetes, client, logger, metrics } = this.#parts;
    const { watchNamespace: namespace, taskQueue } = this.#config;
    this.#current = createWatcher({
      kube: kubernetes.watcherClient,
      reflector: reflectors(kubernetes.watcherClient, logger),
      client,
      ask: (host, signal) => readHealthPage(host, { timeoutMs: askTimeoutMs, signal }),
      options: { namespace, taskQueue },
      logger,
      metrics: metrics.watcher,
    });
    metrics.leader(true);
    this.#current.start().catch((error: unknown) => logger.error('watcher did not start', { error }));
  }

  /** A new watcher in place of the current one: it lists everything, and what it lists is news to it. */
  renew(): void {
    if (this.#current === undefined) return;
    void this.end();
    this.begin();
  }

  /** Resolves when every watcher so far has ended. */
  async end(): Promise<void> {
    const ending = this.#current;
    this.#current = undefined;
    this.#parts.metrics.leader(false);
    if (ending !== undefined) this.#ending = Promise.all([this.#ending, ending.stop()]).then(() => undefined);
    await this.#ending;
  }

  /** Lets no further watcher begin. */
  close(): Promise<void> {
    this.#final = true;
    return this.end();
  }

  synced(): boolean {
    return this.#current?.synced() ?? false;
  }
}

/** The watcher's idea of a reflector, on ours. */
function reflectors(client: Pick<KubeClient, 'list' | 'watch'>, logger: Logger): ReflectorFactory {
  return ({ apiVersion, kind, namespace, labelSelector, slim, onChange }) => {
    const reflector = new Reflector({
      client,
      kind: { apiVersion, kind },
      namespace,
      labelSelector,
      slim,
      logger: logger.child({ reflector: kind }),
    });
    reflector.subscribe({
      added: object => onChange({ type: 'added', object }),
      updated: (object, previous) => onChange({ type: 'updated', object, previous }),
      deleted: object => onChange({ type: 'deleted', object }),
    });
    return {
      start: () => reflector.start(),
      stop: () => reflector.stop(),
      synced: () => reflector.hasSynced,
    };
  };
}
