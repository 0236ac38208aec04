/** The state of each EtcdBackup as gauges, and its runs as counters. Labels are a resource's namespace and name. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BackupFigures, BackupReport } from '../activities/backup/figures.ts';

/** From a small database to a large one on a slow network, in seconds. */
const BUCKETS = [1, 5, 15, 60, 180, 600, 1800, 3600];

interface Known {
  readonly labels: { readonly namespace: string; readonly name: string };
  readonly figures: BackupFigures;
}

const GAUGES: readonly {
  readonly name: string;
  readonly help: string;
  readonly value: (figures: BackupFigures) => number | undefined;
}[] = [
  {
    name: 'last_success_timestamp_seconds',
    help: 'When the last backup succeeded, in seconds since 1970. Absent before the first.',
    value: ({ lastSuccess }) => lastSuccess,
  },
  { name: 'size_bytes', help: 'The newest object.', value: ({ size }) => size },
  { name: 'kept', help: 'Objects that status lists.', value: ({ kept }) => kept },
];

/** Takes in one write of a status after the other. */
export function backupMetrics(registry: Registry, prefix: string): (report: BackupReport) => void {
  const backups = new Map<string, Known>();
  for (const { name, help, value } of GAUGES) {
    new Gauge({
      name: `${prefix}backup_${name}`,
      help,
      labelNames: ['namespace', 'name'] as const,
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, figures } of backups.values()) {
          const figure = value(figures);
          if (figure !== undefined) this.set(labels, figure);
        }
      },
    });
  }
  const runs = new Counter({
    name: `${prefix}backups_total`,
    help: 'Backups that ended, by outcome: Succeeded, Failed, Aborted.',
    labelNames: ['namespace', 'name', 'outcome'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: `${prefix}backup_duration_seconds`,
    help: 'From the beginning of a backup to its end, with everything that was tried again.',
    labelNames: ['outcome'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  return ({ backup: { namespace, name, uid }, figures, ended }) => {
    if (figures === undefined) backups.delete(uid);
    else backups.set(uid, { labels: { namespace, name }, figures });
    if (ended === undefined) return;
    runs.inc({ namespace, name, outcome: ended.outcome });
    if (ended.seconds !== undefined) durations.observe({ outcome: ended.outcome }, ended.seconds);
  };
}
