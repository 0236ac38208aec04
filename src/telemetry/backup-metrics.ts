/** The state of each EtcdBackup as gauges, and runs as counters. Labels of gauges are a resource's namespace and name. */
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { BackupReport } from '../activities/runtime/backup-figures.ts';
import type { BackupFigures } from '../watcher/resources/backup-figures.ts';
import { countedFromZero } from './counted-from-zero.ts';

/** From a small database to a large one on a slow network, in seconds. */
const BUCKETS = [1, 5, 15, 60, 180, 600, 1800, 3600];

/** An EtcdBackup that exists, with what its status says. */
export interface KnownBackup {
  readonly namespace: string;
  readonly name: string;
  readonly figures: BackupFigures;
}

const GAUGES: readonly {
  readonly name: string;
  readonly help: string;
  readonly value: (figures: BackupFigures) => number | undefined;
}[] = [
  {
    name: 'last_success_timestamp_seconds',
    help: 'When the last backup succeeded, in seconds since 1970. Absent before the first. Gauges of backups are reported by the replica that watches.',
    value: ({ lastSuccess }) => lastSuccess,
  },
  {
    name: 'due_timestamp_seconds',
    help: 'By when the backup that the schedule awaits should be finished, in seconds since 1970: it is late when time() is greater. Absent without a schedule.',
    value: ({ dueBy }) => dueBy,
  },
  { name: 'size_bytes', help: 'The newest object.', value: ({ size }) => size },
  { name: 'kept', help: 'Objects that status lists.', value: ({ kept }) => kept },
];

/**
 * Takes in one run that ended after the other.
 * @param current the EtcdBackups that exist, read on each scrape; none on a replica that does not watch: a replica that follows them
 *   knows what is gone
 */
export function backupMetrics(
  registry: Registry,
  prefix: string,
  current: () => readonly KnownBackup[],
): (ended: BackupReport) => void {
  for (const { name, help, value } of GAUGES) {
    new Gauge({
      name: `${prefix}backup_${name}`,
      help,
      labelNames: ['namespace', 'name'] as const,
      registers: [registry],
      collect() {
        this.reset();
        for (const { namespace, name: backup, figures } of current()) {
          const figure = value(figures);
          if (figure !== undefined) this.set({ namespace, name: backup }, figure);
        }
      },
    });
  }
  const runs = countedFromZero(registry, {
    name: `${prefix}backups_total`,
    help: 'Backups that ended, by outcome: Succeeded, Failed, Aborted.',
    label: 'outcome',
    values: ['Succeeded', 'Failed', 'Aborted'],
  });
  const durations = new Histogram({
    name: `${prefix}backup_duration_seconds`,
    help: 'From the beginning of a backup to its end, with everything that was tried again.',
    labelNames: ['outcome'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  return ({ outcome, seconds }) => {
    runs.inc({ outcome });
    if (seconds !== undefined) durations.observe({ outcome }, seconds);
  };
}
