/** What is told of backups in numbers. */
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { backupReport } from '../../src/activities/backup/figures.ts';
import { backupMetrics } from '../../src/telemetry/backup-metrics.ts';

const REF = { namespace: 'shop', name: 'nightly', uid: 'u-1' };
const RUN = {
  startedAt: '2026-11-21T02:30:00Z',
  completedAt: '2026-11-21T02:31:00Z',
  outcome: 'Succeeded' as const,
};
const AFTER = {
  lastRun: RUN,
  lastSuccessDate: RUN.completedAt,
  history: [{ time: RUN.startedAt, location: 's3://b/k', size: 1056 }],
};

it('gauges of each backup, and each run once; nothing of one that is gone', async () => {
  const registry = new Registry();
  const report = backupMetrics(registry, 'etcd_operator_');
  report(backupReport(REF, {}, AFTER));
  report(backupReport(REF, AFTER, AFTER));
  const text = await registry.metrics();
  const labels = '{namespace="shop",name="nightly"}';
  expect(text).toContain(
    `etcd_operator_backup_last_success_timestamp_seconds${labels} ${Date.parse(RUN.completedAt) / 1000}`,
  );
  expect(text).toContain(`etcd_operator_backup_size_bytes${labels} 1056`);
  expect(text).toContain(
    'etcd_operator_backups_total{namespace="shop",name="nightly",outcome="Succeeded"} 1',
  );
  expect(text).toContain('etcd_operator_backup_duration_seconds_sum{outcome="Succeeded"} 60');
  report({ backup: REF, figures: undefined, ended: undefined });
  expect(await registry.metrics()).not.toContain('etcd_operator_backup_size_bytes{');
});
