/**
 * The state of each cluster as gauges, from the passes that this replica made. Labels are a resource's namespace and
 * name and nothing finer; a cluster that is gone, or that this replica has not looked at for a while, has none.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ClusterFigures, PassReport } from '../activities/runtime/pass-report.ts';

/**
 * Replicas take turns at passes, and every cluster has one a minute at least: what is older is another replica's by now,
 * or nobody's.
 */
const FORGET_AFTER_MS = 5 * 60_000;

/** How long operations take, in seconds: from a repair to a large restore. */
const OPERATION_BUCKETS = [1, 2, 5, 10, 20, 60, 180, 600, 1800, 7200];

/** How long one member takes to restart, in seconds. */
const MEMBER_BUCKETS = [1, 2, 5, 10, 20, 60, 180, 600];

interface Known {
  readonly labels: { readonly namespace: string; readonly name: string };
  readonly figures: ClusterFigures;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
  readonly readAt: number | undefined;
}

interface GaugeSpec {
  readonly name: string;
  readonly help: string;
  readonly value: (known: Known, now: number) => number | undefined;
}

const GAUGES: readonly GaugeSpec[] = [
  { name: 'size', help: 'Members that the specification asks for.', value: ({ figures }) => figures.size },
  {
    name: 'available',
    help: '1 while a linearizable read goes through and clients have a way in: the condition Available.',
    value: ({ figures }) => (figures.available ? 1 : 0),
  },
  {
    name: 'quorum_margin',
    help: 'Healthy voters beyond the quorum: how many more may fail. Negative: the quorum is lost.',
    value: ({ figures }) => figures.quorumMargin,
  },
  {
    name: 'db_size_bytes',
    help: 'The largest database file among the members that answered.',
    value: ({ figures }) => figures.dbSize,
  },
  {
    name: 'db_quota_bytes',
    help: 'What the database may hold before etcd refuses writes.',
    value: ({ figures }) => figures.quota,
  },
  {
    name: 'certificate_expiry_timestamp_seconds',
    help: 'When the first of its certificates expires, in seconds since 1970. Absent in plain text.',
    value: ({ figures }) => figures.certificateExpiry,
  },
  {
    name: 'last_pass_seconds',
    help: 'Seconds since this replica last looked. Of several replicas the smallest counts.',
    value: ({ seenAt }, now) => (now - seenAt) / 1000,
  },
  {
    name: 'last_linearizable_read_seconds',
    help: 'Seconds since a linearizable read of this replica last went through. Of several replicas the smallest counts.',
    value: ({ readAt }, now) => (readAt === undefined ? undefined : (now - readAt) / 1000),
  },
];

export interface ClusterMetrics {
  /** Takes in one pass. */
  readonly report: (report: PassReport) => void;
}

/** @param now milliseconds since the epoch */
export function clusterMetrics(
  registry: Registry,
  { prefix, now }: { readonly prefix: string; readonly now: () => number },
): ClusterMetrics {
  const clusters = new Map<string, Known>();
  const current = (): Known[] => {
    for (const [uid, { seenAt }] of clusters) if (now() - seenAt > FORGET_AFTER_MS) clusters.delete(uid);
    return [...clusters.values()];
  };
  for (const spec of GAUGES)
    defineGauge(registry, { ...spec, name: `${prefix}cluster_${spec.name}` }, { current, now });
  defineMembers(registry, `${prefix}cluster_members`, current);
  const ended = operationMetrics(registry, prefix);
  const upgrades = new Histogram({
    name: `${prefix}member_upgrade_duration_seconds`,
    help: 'From the restart of a member with another version until it is ready, in whole seconds.',
    buckets: MEMBER_BUCKETS,
    registers: [registry],
  });
  return {
    report({ cluster: { namespace, name, uid }, figures, ended: operation, upgraded = [] }) {
      for (const seconds of upgraded) upgrades.observe(seconds);
      if (operation !== undefined) ended(operation);
      if (figures === undefined) {
        clusters.delete(uid);
        return;
      }
      const seenAt = now();
      const readAt = figures.read ? seenAt : clusters.get(uid)?.readAt;
      clusters.set(uid, { labels: { namespace, name }, figures, seenAt, readAt });
    },
  };
}

interface Source {
  readonly current: () => Known[];
  readonly now: () => number;
}

function defineGauge(registry: Registry, { name, help, value }: GaugeSpec, { current, now }: Source): void {
  new Gauge({
    name,
    help,
    labelNames: ['namespace', 'name'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const known of current()) {
        const figure = value(known, now());
        if (figure !== undefined) this.set(known.labels, figure);
      }
    },
  });
}

function defineMembers(registry: Registry, name: string, current: () => Known[]): void {
  new Gauge({
    name,
    help: 'Members by health. Unknown: could not be reached, which does not mean that it is down.',
    labelNames: ['namespace', 'name', 'health'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, figures } of current()) {
        for (const [health, count] of Object.entries(figures.members)) this.set({ ...labels, health }, count);
      }
    },
  });
}

function operationMetrics(
  registry: Registry,
  prefix: string,
): (ended: NonNullable<PassReport['ended']>) => void {
  const operations = new Counter({
    name: `${prefix}operations_total`,
    help: 'Operations on clusters that ended, by type and outcome.',
    labelNames: ['operation', 'outcome'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: `${prefix}operation_duration_seconds`,
    help: 'From the first to the last pass of an operation, waits for people included.',
    labelNames: ['operation', 'outcome'] as const,
    buckets: OPERATION_BUCKETS,
    registers: [registry],
  });
  return ({ type, outcome, seconds }) => {
    const labels = { operation: type, outcome };
    operations.inc(labels);
    if (seconds !== undefined) durations.observe(labels, seconds);
  };
}
