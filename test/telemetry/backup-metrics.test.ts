/** What is reported of backups in numbers. */
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { endedRun } from '../../src/activities/runtime/backup-figures.ts';
import { backupMetrics, type KnownBackup } from '../../src/telemetry/backup-metrics.ts';
import { Harness } from '../watcher/harness.ts';
import { refTo } from '../watcher/objects.ts';

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

it('each run is counted once', async () => {
  const registry = new Registry();
  const report = backupMetrics(registry, 'etcd_operator_', () => []);
  for (const [before, after] of [
    [{}, AFTER],
    [AFTER, AFTER],
  ] as const) {
    const ended = endedRun(before, after);
    if (ended !== undefined) report(ended);
  }
  const text = await registry.metrics();
  expect(text).toContain('etcd_operator_backups_total{outcome="Succeeded"} 1');
  expect(text).toContain('etcd_operator_backup_duration_seconds_sum{outcome="Succeeded"} 60');
});

it('gauges of each backup that exists, on the replica that watches alone, and of one that is gone at no time and nowhere', async () => {
  const world = new Harness();
  const nightly = refTo('EtcdBackup', 'nightly');
  const registry = new Registry();
  backupMetrics(registry, 'etcd_operator_', (): readonly KnownBackup[] => world.watcher.backups());
  await world.watcher.start();
  const object = world.put(nightly, { status: AFTER });
  world.put(refTo('EtcdCluster', 'example'));
  const labels = '{namespace="default",name="nightly"}';
  const text = await registry.metrics();
  expect(text).toContain(
    `etcd_operator_backup_last_success_timestamp_seconds${labels} ${Date.parse(RUN.completedAt) / 1000}`,
  );
  expect(text).toContain(`etcd_operator_backup_size_bytes${labels} 1056`);
  expect(text).toContain(`etcd_operator_backup_kept${labels} 1`);
  expect(text).not.toContain('example');
  world.watcher.pause();
  expect(await registry.metrics()).not.toContain('nightly');
  world.watcher.resume();
  expect(await registry.metrics()).toContain('nightly');
  world.reflectors.remove(object);
  expect(await registry.metrics()).not.toContain('nightly');
  await world.stop();
});
