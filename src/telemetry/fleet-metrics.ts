/**
 * Bounds on what a fleet brings into the metrics: gauges of all clusters together, which are as many for ten thousand clusters as for one,
 * and which clusters and backups have gauges of their own.
 */
import { Gauge, type Registry } from 'prom-client';
import type { KnownBackup } from './backup-metrics.ts';
import { type KnownCluster, quorumMargin } from './cluster-metrics.ts';

/** What is read on each scrape. */
export interface Fleet {
  readonly clusters: () => readonly KnownCluster[];
  readonly backups: () => readonly KnownBackup[];
}

/** Gauges of one scrape are collected in one turn of the event loop: what they share is computed once. */
export function onceATurn<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    if (known === undefined) {
      known = { value: compute() };
      queueMicrotask(() => {
        known = undefined;
      });
    }
    return known.value;
  };
}

/**
 * All, or where they are more than `most` those that need attention most: clusters that are not available, then by how few more members may
 * fail, then by how full they are. Ties are settled by name, so that the choice does not change from one scrape to the next.
 */
export function worstClusters(clusters: readonly KnownCluster[], most: number): readonly KnownCluster[] {
  const badness = (known: KnownCluster): readonly number[] => [
    known.reported.available ? 0 : 1,
    -(quorumMargin(known) ?? -1_000),
    fullness(known) ?? 0,
  ];
  return worst(clusters, most, badness);
}

/** The same of backups: those whose last success is the longest ago, or never was. */
export function worstBackups(backups: readonly KnownBackup[], most: number): readonly KnownBackup[] {
  return worst(backups, most, ({ figures }) => [-(figures.lastSuccess ?? 0)]);
}

function worst<T extends { readonly namespace: string; readonly name: string }>(
  all: readonly T[],
  most: number,
  badness: (one: T) => readonly number[],
): readonly T[] {
  if (all.length <= most) return all;
  const ranked = all.map(one => ({ one, key: `${one.namespace}/${one.name}`, bad: badness(one) }));
  ranked.sort((a, b) => {
    const at = a.bad.findIndex((value, index) => value !== b.bad[index]);
    if (at < 0) return a.key < b.key ? -1 : 1;
    return (b.bad[at] ?? 0) - (a.bad[at] ?? 0);
  });
  return ranked.slice(0, most).map(({ one }) => one);
}

/** The share of its quota that the database of a cluster takes. */
function fullness({ reported, asked }: KnownCluster): number | undefined {
  return asked?.dbSize === undefined ? undefined : asked.dbSize / reported.quota;
}

interface FleetGauge {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  /** By value of the label; by the empty text without one. */
  readonly values: (fleet: Fleet, now: number) => Readonly<Record<string, number | undefined>>;
}

const GAUGES: readonly FleetGauge[] = [
  {
    name: 'clusters',
    help: 'EtcdClusters by whether they are available. Gauges of the fleet are reported by the replica that watches.',
    label: 'available',
    values: ({ clusters }) => {
      const available = clusters().filter(({ reported }) => reported.available).length;
      return { true: available, false: clusters().length - available };
    },
  },
  {
    name: 'clusters_by_margin',
    help: 'EtcdClusters by how many more members may fail: none of the quorum left (lost), none, some; unknown without members.',
    label: 'margin',
    values: ({ clusters }) => {
      const counts = { lost: 0, none: 0, some: 0, unknown: 0 };
      for (const cluster of clusters()) counts[marginOf(cluster)] += 1;
      return counts;
    },
  },
  {
    name: 'members',
    help: 'Members of all clusters by health.',
    label: 'health',
    values: ({ clusters }) => {
      const counts: Record<string, number> = { Healthy: 0, Unhealthy: 0, Unknown: 0 };
      for (const { reported } of clusters())
        for (const { health = '' } of reported.members)
          if (Object.hasOwn(counts, health)) counts[health] = (counts[health] ?? 0) + 1;
      return counts;
    },
  },
  {
    name: 'operations',
    help: 'EtcdClusters with an operation under way, by its type. Absent where there is none.',
    label: 'operation',
    values: ({ clusters }) => {
      const counts: Record<string, number> = {};
      for (const { reported } of clusters())
        if (reported.operation !== undefined)
          counts[reported.operation] = (counts[reported.operation] ?? 0) + 1;
      return counts;
    },
  },
  {
    name: 'db_usage_ratio',
    help: 'The largest share of its quota that the database of any cluster takes.',
    values: ({ clusters }) => ({ '': greatest(clusters().map(fullness)) }),
  },
  {
    name: 'certificate_expiry_timestamp_seconds',
    help: 'When the first certificate of any cluster expires, in seconds since 1970.',
    values: ({ clusters }) => ({ '': least(clusters().map(({ reported }) => reported.certificateExpiry)) }),
  },
  {
    name: 'last_survey_seconds',
    help: 'Seconds since that cluster was asked whose members were asked the longest ago.',
    values: ({ clusters }, now) => ({
      '': greatest(clusters().map(({ asked }) => asked && (now - asked.askedAt) / 1000)),
    }),
  },
  {
    name: 'backups',
    help: 'EtcdBackups by whether a backup has ever succeeded.',
    label: 'succeeded',
    values: ({ backups }) => {
      const succeeded = backups().filter(({ figures }) => figures.lastSuccess !== undefined).length;
      return { true: succeeded, false: backups().length - succeeded };
    },
  },
  {
    name: 'backups_late',
    help: 'EtcdBackups with a backup that should have been finished by now.',
    values: ({ backups }, now) => ({
      '': backups().filter(({ figures: { dueBy } }) => dueBy !== undefined && now > dueBy * 1000).length,
    }),
  },
  {
    name: 'backup_last_success_timestamp_seconds',
    help: 'When the last backup of that EtcdBackup succeeded whose last success is the longest ago, in seconds since 1970.',
    values: ({ backups }) => ({ '': least(backups().map(({ figures }) => figures.lastSuccess)) }),
  },
];

/** @param read what exists; `now` in milliseconds since the epoch */
export function fleetMetrics(
  registry: Registry,
  { prefix, now, ...fleet }: Fleet & { readonly prefix: string; readonly now: () => number },
): void {
  for (const { name, help, label, values } of GAUGES)
    new Gauge({
      name: `${prefix}fleet_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect() {
        this.reset();
        for (const [value, figure] of Object.entries(values(fleet, now()))) {
          // Without a label a gauge that was not set says 0.
          if (figure === undefined) this.remove();
          else this.set(label === undefined ? {} : { [label]: value }, figure);
        }
      },
    });
}

function marginOf(cluster: KnownCluster): 'lost' | 'none' | 'some' | 'unknown' {
  const margin = quorumMargin(cluster);
  if (margin === undefined) return 'unknown';
  return margin < 0 ? 'lost' : margin === 0 ? 'none' : 'some';
}

function greatest(figures: readonly (number | undefined)[]): number | undefined {
  let found: number | undefined;
  for (const figure of figures)
    if (figure !== undefined && (found === undefined || figure > found)) found = figure;
  return found;
}

function least(figures: readonly (number | undefined)[]): number | undefined {
  let found: number | undefined;
  for (const figure of figures)
    if (figure !== undefined && (found === undefined || figure < found)) found = figure;
  return found;
}
