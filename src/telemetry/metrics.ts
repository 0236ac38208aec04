/**
 * What the operator counts, in Prometheus' form. Temporal's own metrics (latencies, failures and durations by
 * workflow type, so also how long each operation took) come from its Runtime, on a port of their own.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BackupReport } from '../activities/runtime/backup-figures.ts';
import type { PassReport } from '../activities/runtime/pass-report.ts';
import type { CallReport } from '../kube/calls.ts';
import type { WatcherMetrics } from '../watcher/model/ports.ts';
import { backupMetrics, type KnownBackup } from './backup-metrics.ts';
import { countedFromZero } from './counted-from-zero.ts';
import { clusterMetrics, type KnownCluster } from './cluster-metrics.ts';
import { conditionMetrics, type KnownConditions } from './condition-metrics.ts';
import type { RequestFigures } from '../watcher/resources/requests.ts';
import { requestMetrics } from './request-metrics.ts';
import { fleetMetrics, onceATurn, worstBackups, worstClusters } from './fleet-metrics.ts';
import { type TemporalMetrics, temporalMetrics } from './temporal-metrics.ts';

/** How an activity ended. `waiting` is a benign failure: not yet, asked again soon. */
export type ActivityOutcome = 'completed' | 'waiting' | 'failed' | 'cancelled';

export interface ActivityMetrics {
  /** One attempt of one activity. Steps are activities named after their kind. */
  readonly activity: (type: string, outcome: ActivityOutcome, seconds: number) => void;
}

/** A metric as it is documented. */
interface MetricDescription {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export interface Metrics extends ActivityMetrics, TemporalMetrics {
  /** One pass of observe, plan and report. */
  readonly pass: (report: PassReport) => void;
  /** A run of an EtcdBackup that has ended. */
  readonly backup: (ended: BackupReport) => void;
  /** Where to read which EtcdClusters exist, on each scrape. The last one given counts. */
  readonly knownClusters: (read: () => readonly KnownCluster[]) => void;
  /** Where to read which EtcdBackups exist, on each scrape. The last one given counts. */
  readonly knownBackups: (read: () => readonly KnownBackup[]) => void;
  /** Where to read which resources have conditions that are reported, on each scrape. The last one given counts. */
  readonly knownConditions: (read: () => readonly KnownConditions[]) => void;
  /** Where to read which EtcdRequests are open, on each scrape; undefined on a replica that does not watch. The last one given counts. */
  readonly knownRequests: (read: () => RequestFigures | undefined) => void;
  /** Every metric of the operator itself, without those of its Node. */
  readonly descriptions: readonly MetricDescription[];
  /** In Prometheus' text format. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
  /** Takes in one EtcdRequest that ended after the other. */
  readonly request: (action: string, outcome: string) => void;
  readonly watcher: WatcherMetrics;
  /** Whether this replica holds the watcher's lease. */
  readonly leader: (isLeader: boolean) => void;
  /** Where to read how many custom resources wait for their signal, on each scrape. The last one given counts. */
  readonly queueDepth: (read: () => number) => void;
  /** Where to read how many named namespaces cannot be watched, on each scrape. The last one given counts. */
  readonly unwatchedNamespaces: (read: () => number) => void;
  /** One call to the apiserver. */
  readonly kubeCall: (call: CallReport) => void;
  /** An uncaught error, by where Node says that it comes from. */
  readonly uncaught: (origin: NodeJS.UncaughtExceptionOrigin) => void;
}

const prefix = 'etcd_operator_';
const durationBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

export interface MetricsOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** So many clusters, as many backups, and as many conditions have gauges of their own; all when left out. */
  readonly mostResources?: number;
}

/** Where to read what exists, on each scrape. */
interface Known {
  clusters: () => readonly KnownCluster[];
  backups: () => readonly KnownBackup[];
  conditions: () => readonly KnownConditions[];
  requests: () => RequestFigures | undefined;
}

/** With a registry of its own, so that tests do not share counters. Has Node's heap and event loop as well. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { now = Date.now, mostResources = Number.POSITIVE_INFINITY } = options;
  const registry = new Registry();
  const leader = new Gauge({
    name: `${prefix}watcher_leader`,
    help: '1 while this replica watches the custom resources.',
    registers: [registry],
  });
  const queueDepth = readGauge(registry, {
    name: 'watch_queue_depth',
    help: 'Custom resources whose workflow has not been signaled about a change yet.',
  });
  const unwatchedNamespaces = readGauge(registry, {
    name: 'unwatched_namespaces',
    help: 'Namespaces of WATCH_NAMESPACE that do not exist, or in which the operator has no rights; 0 on a replica that does not watch. The log names them.',
  });
  const known: Known = {
    clusters: () => [],
    backups: () => [],
    conditions: () => [],
    requests: () => undefined,
  };
  const fleet = { clusters: onceATurn(() => known.clusters()), backups: onceATurn(() => known.backups()) };
  const shownClusters = onceATurn(() => worstClusters(fleet.clusters(), mostResources));
  const shownBackups = onceATurn(() => worstBackups(fleet.backups(), mostResources));
  fleetMetrics(registry, { prefix, now, ...fleet });
  conditionMetrics(registry, { prefix, most: mostResources, current: onceATurn(() => known.conditions()) });
  const own = {
    ...activityMetrics(registry),
    pass: passMetrics(registry, { now, clusters: shownClusters }),
    backup: backupMetrics(registry, prefix, shownBackups),
    watcher: watcherMetrics(registry),
    request: requestMetrics(registry, { prefix, now, current: () => known.requests() }),
    kubeCall: kubeMetrics(registry),
    uncaught: uncaughtMetrics(registry),
    ...temporalMetrics(registry, prefix),
  };
  const descriptions = describe(registry);
  collectDefaultMetrics({ register: registry, prefix });
  return {
    text: () => registry.metrics(),
    contentType: registry.contentType,
    descriptions,
    ...own,
    leader: isLeader => leader.set(isLeader ? 1 : 0),
    knownClusters: clusters => void (known.clusters = clusters),
    knownRequests: requests => void (known.requests = requests),
    knownBackups: backups => void (known.backups = backups),
    knownConditions: conditions => void (known.conditions = conditions),
    queueDepth,
    unwatchedNamespaces,
  };
}

/** A gauge whose value is read on each scrape; it answers where to give what reads it. 0 before that. */
function readGauge(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
): (read: () => number) => void {
  let current = (): number => 0;
  new Gauge({
    name: `${prefix}${name}`,
    help,
    registers: [registry],
    collect() {
      this.set(current());
    },
  });
  return read => void (current = read);
}

function activityMetrics(registry: Registry): ActivityMetrics {
  const activities = new Histogram({
    name: `${prefix}activity_duration_seconds`,
    help: 'Attempts of activities by type and outcome; steps are activities named after their kind.',
    labelNames: ['activity', 'outcome'] as const,
    buckets: durationBuckets,
    registers: [registry],
  });
  return {
    activity: (activity, outcome, seconds) => activities.observe({ activity, outcome }, seconds),
  };
}

function passMetrics(
  registry: Registry,
  source: { readonly now: () => number; readonly clusters: () => readonly KnownCluster[] },
): Metrics['pass'] {
  const passes = new Counter({
    name: `${prefix}passes_total`,
    help: 'Passes of observe, plan and report, by the kind of decision.',
    labelNames: ['decision'] as const,
    registers: [registry],
  });
  const clusters = clusterMetrics(registry, { prefix, ...source });
  return report => {
    passes.inc({ decision: report.decision });
    clusters(report);
  };
}

/** What prom-client's metrics know of themselves; its types leave out half of it. */
function describe(registry: Registry): MetricDescription[] {
  return registry.getMetricsAsArray().map(metric => {
    const { name, help, type, labelNames } = metric as unknown as {
      readonly name: string;
      readonly help: string;
      readonly type: string;
      readonly labelNames: readonly string[];
    };
    return { name, help, type, labels: labelNames.filter(label => label !== 'le') };
  });
}

const ORIGINS = [
  'uncaughtException',
  'unhandledRejection',
] as const satisfies readonly NodeJS.UncaughtExceptionOrigin[];

function uncaughtMetrics(registry: Registry): Metrics['uncaught'] {
  const errors = countedFromZero(registry, {
    name: `${prefix}uncaught_errors_total`,
    help: 'Uncaught errors, each of which is a fault of the operator: its log has them.',
    label: 'origin',
    values: ORIGINS,
  });
  return origin => errors.inc({ origin });
}

function watcherMetrics(registry: Registry): WatcherMetrics {
  const events = new Counter({
    name: `${prefix}watch_events_total`,
    help: 'Events of watched objects, and whether they were worth reportingRetries a workflow.',
    labelNames: ['kind', 'enqueued'] as const,
    registers: [registry],
  });
  const signals = new Histogram({
    name: `${prefix}signal_duration_seconds`,
    help: 'Signals to the workflows of custom resources, by outcome.',
    labelNames: ['kind', 'outcome'] as const,
    buckets: durationBuckets,
    registers: [registry],
  });
  const otherInstallations = new Gauge({
    name: `${prefix}other_installations`,
    help: 'Other installations of the operator whose workers serve the same namespace and task queue of Temporal, and so take its tasks; 0 on a replica that does not watch. The log names the workers.',
    registers: [registry],
  });
  const withoutPass = new Gauge({
    name: `${prefix}resources_without_pass`,
    help: 'Resources for which no pass has succeeded for a minute, by kind, on the replica that watches. More than 0 is worth an alert.',
    labelNames: ['kind'] as const,
    registers: [registry],
  });
  return {
    otherInstallations: count => otherInstallations.set(count),
    withoutPass: (kind, count) => withoutPass.set({ kind }, count),
    eventSeen: (kind, enqueued) => events.inc({ kind, enqueued: String(enqueued) }),
    signalSent: (kind, outcome, seconds) => signals.observe({ kind, outcome }, seconds),
  };
}

function kubeMetrics(registry: Registry): (call: CallReport) => void {
  const calls = new Histogram({
    name: `${prefix}kubernetes_call_duration_seconds`,
    help: 'Calls to the apiserver by method, kind and HTTP status; code 0 is no answer.',
    labelNames: ['method', 'kind', 'code'] as const,
    buckets: durationBuckets,
    registers: [registry],
  });
  return ({ method, kind, code, durationMs }) => calls.observe({ method, kind, code }, durationMs / 1000);
}
