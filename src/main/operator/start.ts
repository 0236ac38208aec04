/** Composition: from the settings to a running operator, and back. */
import type { PayloadCodec } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';
import { createEtcdPort } from '../../etcd/adapter.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Scrub } from '../../telemetry/scrub.ts';
import { temporalLogger } from '../../telemetry/temporal-logger.ts';
import { workerIdentity } from '../../api/values/worker-identity.ts';
import type { Config } from '../config/config.ts';
import { serveCodec } from '../listeners/codec-server.ts';
import {
  healthPages,
  metricsPages,
  operatorChecks,
  type Pages,
  servePages,
  temporalServing,
} from '../listeners/health.ts';
import { findInstallation } from './installation.ts';
import { connectKubernetes, eventSink, type Kubernetes } from './kubernetes.ts';
import { openClaim } from '../../activities/backup/claim-store.ts';
import { realTime } from '../../activities/runtime/poll.ts';
import { RefusedNamespaces } from '../../activities/backup/refused-namespaces.ts';
import { LargeNamespaces } from '../../activities/observe/large-namespaces.ts';
import { BackupTurns } from '../../activities/backup/turns.ts';
import { storeOpener } from '../../activities/backup/open-store.ts';
import { StoreMemory } from '../../store/memory.ts';
import { openServedStore } from '../../store/served/client.ts';
import { ownImage } from '../pods/own-image.ts';
import { encryptingCodec } from '../temporal/codec/codec.ts';
import { KeyRing } from '../temporal/codec/key-ring.ts';
import { type NamespaceKeeper, keepNamespace } from '../temporal/namespace-keeper.ts';
import { failure, retryUntilDone } from '../retry.ts';
import { linkTemporal, type TemporalLink } from '../temporal/link.ts';
import { type SdkMetrics, sdkMetrics } from '../listeners/sdk-metrics.ts';
import type { PageServer } from '../listeners/serving.ts';
import { startWatching, type Watching } from './watching.ts';
import { createWorkers, type Workers } from '../temporal/worker.ts';
import { workflowBundle } from '../temporal/workflow-bundle.ts';

export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly scrub: Scrub;
  /** Has `scrub` take this text out of everything from now on. */
  readonly keepSecret: (text: string) => void;
}

export interface Operator {
  /** Rejects when a part has failed in a way that only a restart cures; never resolves. */
  readonly failed: Promise<never>;
  /** Ends everything in order: no new work, the lease given back, activities finished or given up. */
  stop(): Promise<void>;
}

/**
 * The watcher does not wait for Temporal for longer than this: it is what reports to users that Temporal is away.
 * Within this time a Temporal that serves has been prepared, and no signal fails for the lack of a namespace.
 */
const watchAfterMs = 5_000;

/**
 * Starts every part that the roles ask for. Resolves as soon as health is served; what has to wait for Temporal or
 * the apiserver waits in the background.
 * @throws when a port is taken, or the certificates or the API key for Temporal or the keys for payloads cannot be used
 */
export async function startOperator(config: Config, telemetry: Telemetry): Promise<Operator> {
  const { logger, metrics } = telemetry;
  const ofSdk = await sdkMetrics();
  installRuntime(ofSdk.bindAddress, logger);
  const stopping = new AbortController();
  const { failed, fail } = failure();
  const kubernetes = connectKubernetes(config, telemetry);
  const keys = keysOf(config, telemetry);
  const codec = keys && encryptingCodec(keys);
  const identity = workerIdentity(config.pod.name, await findInstallation(config));
  const temporal = temporalOf(config, telemetry, { codec, identity });
  const shared = { kubernetes, identity };
  let watching: Watching | undefined;
  const namespace = keepNamespace(() => temporal.connection(), {
    spec: config.temporal,
    logger,
    signal: stopping.signal,
    onReplaced: () => watching?.renewAll(),
  });
  void namespace.failed.catch(fail);
  const worker = config.roles.worker
    ? startWorker(config, { ...shared, telemetry, temporal, codec, namespace, signal: stopping.signal })
    : undefined;
  void worker?.failed.catch(fail);
  const parts = () => ({
    workerState: worker?.state(),
    hasWorkerRole: config.roles.worker,
    leading: watching?.leading() ?? false,
    watcherSynced: watching?.synced() ?? false,
    stopping: stopping.signal.aborted,
  });
  const health = healthPages(
    operatorChecks(
      parts,
      temporalServing(() => temporal.connection(), namespace.refused),
    ),
  );
  const servers = await serve(config, { telemetry, health, ofSdk, codec });
  if (config.roles.watcher) {
    void namespace.readyWithin(watchAfterMs).then(() => {
      if (stopping.signal.aborted) return;
      const client = () => temporal.client();
      watching = startWatching(config, { ...shared, client, logger, metrics });
    });
  }
  logger.info('operator started', { roles: config.roles, temporal: config.temporal.address });
  return {
    failed,
    async stop() {
      stopping.abort();
      await Promise.all([watching?.stop(), worker?.stop()]);
      await kubernetes.close();
      await temporal.close();
      await keys?.close();
      await Promise.all(servers.map(server => server.close()));
    },
  };
}

interface Served {
  readonly telemetry: Telemetry;
  readonly health: Pages;
  readonly ofSdk: SdkMetrics;
  readonly codec: PayloadCodec | undefined;
}

/** @throws when a port is taken */
async function serve(
  { ports, codec: payloads, temporal }: Config,
  { telemetry, health, ofSdk, codec }: Served,
): Promise<readonly PageServer[]> {
  const { logger, metrics } = telemetry;
  const onTrouble = (error: Error) => logger.warn('a listener reported a connection error', { error });
  const servers = [
    await servePages(ports.health, health, { onTrouble }),
    await servePages(ports.metrics, metricsPages(metrics), { onTrouble }),
    await servePages(ports.temporalMetrics, metricsPages(ofSdk), { onTrouble }),
  ];
  if (codec === undefined || payloads?.server === undefined) return servers;
  const { namespace } = temporal;
  return [...servers, await serveCodec({ ...payloads.server, codec, namespace, onTrouble })];
}

function keysOf({ codec }: Config, { logger, metrics }: Telemetry): KeyRing | undefined {
  const onOutdated = metrics.codecKeys;
  return codec && new KeyRing({ folder: codec.keysFolder, logger, onOutdated });
}

function temporalOf(
  { temporal }: Config,
  { logger, metrics, keepSecret }: Telemetry,
  { codec, identity }: { readonly codec: PayloadCodec | undefined; readonly identity: string },
): TemporalLink {
  const onOutdated = metrics.temporalCertificates;
  return linkTemporal({ temporal, identity, codec, logger, keepSecret, onOutdated });
}

/** Once a process, before anything else of the SDK. Signals are ours: the watcher has to end as well. */
function installRuntime(bindAddress: string, logger: Logger): void {
  Runtime.install({
    logger: temporalLogger(logger.child({ component: 'temporal' })),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      metrics: {
        prometheus: { bindAddress, useSecondsForDurations: true },
      },
    },
  });
}

interface RunningWorker {
  state(): string | undefined;
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

interface WorkerContext {
  readonly telemetry: Telemetry;
  readonly kubernetes: Kubernetes;
  readonly temporal: TemporalLink;
  readonly codec: PayloadCodec | undefined;
  readonly identity: string;
  readonly namespace: NamespaceKeeper;
  readonly signal: AbortSignal;
}

/** Makes the workers once Temporal is ready for them, and runs them. */
function startWorker(config: Config, context: WorkerContext): RunningWorker {
  const { failed, fail } = failure();
  let workers: Workers | undefined;
  const running = (async () => {
    workers = await makeWorkers(config, context);
    // Stopped while it was being made: a worker that never ran has nothing to end.
    if (!context.signal.aborted) await workers.run();
    if (!context.signal.aborted) throw new Error('the Temporal workers stopped unexpectedly');
  })().catch((error: unknown) => {
    if (!context.signal.aborted) fail(error);
  });
  return {
    state: () => workers?.state(),
    failed,
    async stop() {
      workers?.shutdown();
      await running;
    },
  };
}

function backupTurns({ maxConcurrentTransfers, maxBackupsPerStore, maxBackupsPerNode }: Config['worker']) {
  return new BackupTurns({
    slots: maxConcurrentTransfers,
    perStore: maxBackupsPerStore,
    perNode: maxBackupsPerNode,
  });
}

async function makeWorkers(
  config: Config,
  { telemetry, kubernetes, temporal, codec, identity, namespace, signal }: WorkerContext,
): Promise<Workers> {
  const { logger, metrics } = telemetry;
  const bundle = await workflowBundle(Runtime.instance().logger);
  const claims = {
    kube: kubernetes.client,
    now: kubernetes.clock.now,
    time: realTime,
    image: ownImage(kubernetes.client, config),
    memory: new StoreMemory(),
  };
  const activities = {
    kube: kubernetes.client,
    etcd: createEtcdPort(),
    openStore: storeOpener({
      ...claims,
      identityNamespaces: config.identityNamespaces,
      environment: process.env,
      storesAllowed: config.allowed.stores,
      credentialHosts: config.allowed.credentials,
    }),
    openVolume: (owner: Parameters<typeof openClaim>[1], of: Parameters<typeof openClaim>[2]) =>
      openClaim(claims, owner, of),
    openServed: openServedStore,
    ownImage: claims.image,
    recordEvent: eventSink(kubernetes.events),
    endpointsAllowed: config.allowed.endpoints,
    turns: backupTurns(config.worker),
    backupJitterSeconds: config.backupJitterSeconds,
    watchNamespaces: config.watchNamespaces,
    refusedNamespaces: new RefusedNamespaces(() => performance.now()),
    largeNamespaces: new LargeNamespaces(() => performance.now()),
    credentialHosts: config.allowed.credentials,
    logger: logger.child({ component: 'activities' }),
    onPass: metrics.pass,
    onBackup: metrics.backup,
    onRequest: metrics.request,
    now: kubernetes.clock.now,
    time: realTime,
    clockAheadMs: kubernetes.clock.aheadMs,
  };
  const parts = { ...telemetry, workflowBundle: bundle, activities, codec, identity };
  await namespace.ready;
  return retryUntilDone(
    () => temporal.makeWorkers(connection => createWorkers(config, { ...parts, connection })),
    {
      signal,
      firstMs: 250,
      maxMs: 5_000,
      onFailure: (error, waitMs) => logger.warn('Temporal worker cannot start yet', { error, waitMs }),
    },
  );
}
