/**
 * The state of each cluster as gauges, reported by the replica that watches: only that one knows what is gone. Labels are a resource's
 * namespace and name and nothing finer. Operations are counted where they are carried out.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { PassReport } from '../activities/runtime/pass-report.ts';
import { OPERATION_NAMES, OUTCOMES } from '../api/operations.ts';
import type { WatchedCluster } from '../watcher/watcher-types.ts';
import { countedFromZero } from './counted-from-zero.ts';

/** An EtcdCluster that exists, with what its status says and what its members said last. */
export type KnownCluster = WatchedCluster;

/** How long operations take, in seconds: from a repair to a large restore. */
const OPERATION_BUCKETS = [1, 2, 5, 10, 20, 60, 180, 600, 1800, 7200];

/** How long one member takes to restart, in seconds. */
const MEMBER_BUCKETS = [1, 2, 5, 10, 20, 60, 180, 600];

/** Every step that a pass performs by itself. */
const STEPS_OF_PASSES: readonly NonNullable<PassReport['repaired']>[] = ['ensureObjects', 'applyObjects'];

interface GaugeSpec {
  readonly name: string;
  readonly help: string;
  readonly value: (known: KnownCluster, now: number) => number | undefined;
}

const GAUGES: readonly GaugeSpec[] = [
  {
    name: 'size',
    help: 'Members that the specification asks for. Gauges of clusters are reported by the replica that watches.',
    value: ({ reported }) => reported.size,
  },
  {
    name: 'available',
    help: '1 while a linearizable read goes through and clients have a way in: the condition Available.',
    value: ({ reported }) => (reported.available ? 1 : 0),
  },
  {
    name: 'quorum_margin',
    help: 'Healthy voters beyond the quorum: how many more may fail. Negative: the quorum is lost.',
    value: quorumMargin,
  },
  {
    name: 'db_size_bytes',
    help: 'The largest database file among the members that answered last.',
    value: ({ asked }) => asked?.dbSize,
  },
  {
    name: 'db_quota_bytes',
    help: 'What the database may hold before etcd refuses writes.',
    value: ({ reported }) => reported.quota,
  },
  {
    name: 'certificate_expiry_timestamp_seconds',
    help: 'When the first of its certificates expires, in seconds since 1970. Absent in plain text.',
    value: ({ reported }) => reported.certificateExpiry,
  },
  {
    name: 'last_survey_seconds',
    help: 'Seconds since the members were last asked. Absent before the first time.',
    value: ({ asked }, now) => asked && (now - asked.askedAt) / 1000,
  },
  {
    name: 'last_linearizable_read_seconds',
    help: 'Seconds since a linearizable read last went through.',
    value: ({ asked }, now) => (asked?.readAt === undefined ? undefined : (now - asked.readAt) / 1000),
  },
];

/** Healthy voters beyond the quorum; undefined without members. */
export function quorumMargin({
  reported: { members, listed = members.length },
}: KnownCluster): number | undefined {
  const isVoter = ({ role }: { readonly role: string | undefined }) => role !== 'Learner';
  const healthy = members.filter(member => isVoter(member) && member.health === 'Healthy').length;
  // One that was added and never started is listed, and the status has no detail of it.
  const voters = listed - (members.length - members.filter(isVoter).length);
  return members.length === 0 ? undefined : healthy - (Math.floor(voters / 2) + 1);
}

/**
 * Takes in one pass after the other.
 * @param source `clusters`: those that exist, read on each scrape; `now` in milliseconds since the epoch
 */
export function clusterMetrics(
  registry: Registry,
  { prefix, ...source }: Source & { readonly prefix: string },
): (report: PassReport) => void {
  for (const spec of GAUGES)
    defineGauge(registry, { ...spec, name: `${prefix}cluster_${spec.name}` }, source);
  defineMembers(registry, `${prefix}cluster_members`, source);
  defineOperation(registry, `${prefix}cluster_operation`, source);
  const ended = operationMetrics(registry, prefix);
  const repairs = countedFromZero(registry, {
    name: `${prefix}pass_repairs_total`,
    help: 'Services and PodDisruptionBudgets that were missing (ensureObjects) or edited (applyObjects) and that a pass repaired without an operation: passes, by step.',
    label: 'step',
    values: STEPS_OF_PASSES,
  });
  const upgrades = new Histogram({
    name: `${prefix}member_upgrade_duration_seconds`,
    help: 'From the restart of a member with another version until it is ready, in whole seconds.',
    buckets: MEMBER_BUCKETS,
    registers: [registry],
  });
  return ({ ended: operation, upgraded = [], repaired }) => {
    for (const seconds of upgraded) upgrades.observe(seconds);
    if (repaired !== undefined) repairs.inc({ step: repaired });
    if (operation !== undefined) ended(operation);
  };
}

interface Source {
  readonly clusters: () => readonly KnownCluster[];
  readonly now: () => number;
}

function defineGauge(registry: Registry, { name, help, value }: GaugeSpec, { clusters, now }: Source): void {
  new Gauge({
    name,
    help,
    labelNames: ['namespace', 'name'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const known of clusters()) {
        const figure = value(known, now());
        const { namespace, name: cluster } = known;
        if (figure !== undefined) this.set({ namespace, name: cluster }, figure);
      }
    },
  });
}

function defineMembers(registry: Registry, name: string, { clusters }: Source): void {
  new Gauge({
    name,
    help: 'Members by health. Unknown: could not be reached, which does not mean that it is down.',
    labelNames: ['namespace', 'name', 'health'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { namespace, name: cluster, reported } of clusters()) {
        for (const health of ['Healthy', 'Unhealthy', 'Unknown']) {
          const count = reported.members.filter(member => member.health === health).length;
          this.set({ namespace, name: cluster, health }, count);
        }
      }
    },
  });
}

function defineOperation(registry: Registry, name: string, { clusters }: Source): void {
  new Gauge({
    name,
    help: 'Always 1: this operation is under way. Absent otherwise.',
    labelNames: ['namespace', 'name', 'operation'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { namespace, name: cluster, reported } of clusters())
        if (reported.operation !== undefined)
          this.set({ namespace, name: cluster, operation: reported.operation }, 1);
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
    help: 'From the first to the last pass of an operation, waits for users included.',
    labelNames: ['operation', 'outcome'] as const,
    buckets: OPERATION_BUCKETS,
    registers: [registry],
  });
  // From the beginning: Prometheus sees no increase in a series whose first value is 1 already.
  for (const type of OPERATION_NAMES)
    for (const outcome of OUTCOMES) operations.inc({ operation: type, outcome }, 0);
  return ({ type, outcome, seconds }) => {
    const labels = { operation: type, outcome };
    operations.inc(labels);
    if (seconds !== undefined) durations.observe(labels, seconds);
  };
}
