import { expect, test } from 'vitest';
import type { KnownBackup } from '../../src/telemetry/backup-metrics.ts';
import type { KnownCluster } from '../../src/telemetry/cluster-metrics.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const NOW = 1_000_000_000;
const member = (index: number, health: string) => ({
  name: `m-${index}`,
  id: `${index}`,
  version: '3.6.16',
  role: index === 0 ? 'Leader' : 'Follower',
  health,
});

function cluster(
  at: number,
  healths: readonly string[],
  more: Partial<KnownCluster['reported']> = {},
): KnownCluster {
  const members = healths.map((health, index) => member(index, health));
  return {
    namespace: `team-${at % 10}`,
    name: `c-${at}`,
    reported: { size: 3, listed: members.length, members, available: true, quota: 1_000, ...more },
    asked: { dbSize: 100 + at / 1_000, askedAt: NOW - 5_000, readAt: NOW },
  };
}
const WELL = ['Healthy', 'Healthy', 'Healthy'];

async function lines(
  mostResources: number,
  { clusters = [], backups = [] }: { clusters?: readonly KnownCluster[]; backups?: readonly KnownBackup[] },
): Promise<string[]> {
  const metrics = createMetrics({ now: () => NOW, mostResources });
  metrics.knownClusters(() => clusters);
  metrics.knownBackups(() => backups);
  const text = (await metrics.text()).split('\n');
  return text.filter(line => /^etcd_operator_(fleet|cluster|backup)_/.test(line));
}

/** Names of the clusters that have a gauge of this name. */
const named = (found: readonly string[], gauge: string): string[] =>
  found.flatMap(line =>
    line.startsWith(`etcd_operator_${gauge}{`) ? (/name="(c-\d+)"/.exec(line)?.[1] ?? []) : [],
  );

const fleet = Array.from({ length: 3_000 }, (_, at) => cluster(at, WELL));
fleet[7] = cluster(7, WELL, { available: false });
fleet[2_000] = cluster(2_000, ['Healthy', 'Unknown', 'Unknown']);
fleet[99] = cluster(99, ['Healthy', 'Healthy', 'Unhealthy'], { certificateExpiry: 1_234 });

test('with few clusters each has gauges of its own', async () => {
  const found = await lines(1_000, { clusters: fleet.slice(0, 1_000) });
  expect(named(found, 'cluster_size')).toHaveLength(1_000);
});

test('of many the worst have: not available, without quorum, without a margin, then the fullest', async () => {
  const found = await lines(5, { clusters: fleet });
  for (const gauge of ['cluster_size', 'cluster_available', 'cluster_db_size_bytes'])
    expect(named(found, gauge)).toEqual(['c-7', 'c-2000', 'c-99', 'c-2999', 'c-2998']);
  expect(found.length).toBeLessThan(100);
});

test('the text stays small for ten thousand clusters in as many namespaces, each with a backup', async () => {
  const clusters = Array.from({ length: 10_000 }, (_, at) => ({
    ...cluster(at, WELL),
    namespace: `n-${at}`,
  }));
  const backups = clusters.map(({ namespace, name }) => ({
    namespace,
    name,
    figures: { lastSuccess: 5, dueBy: 9, size: 1, kept: 1 },
  }));
  for (const most of [0, 100]) {
    const found = await lines(most, { clusters, backups });
    // Ten gauges a cluster, three of them by health, and four a backup; seventeen of the fleet.
    expect(found.length).toBeLessThanOrEqual(17 + most * 14);
  }
});

test('the fleet is reported as a whole, whichever clusters have gauges of their own', async () => {
  const backup = (at: number, lastSuccess: number | undefined, dueBy?: number): KnownBackup => ({
    namespace: 'a',
    name: `b-${at}`,
    figures: { lastSuccess, dueBy, size: undefined, kept: 0 },
  });
  const notified = await lines(0, {
    clusters: fleet,
    backups: [backup(1, 500, NOW / 1000 + 1), backup(2, 400, NOW / 1000 - 1), backup(3, undefined)],
  });
  expect(notified.map(line => line.replace('etcd_operator_fleet_', ''))).toEqual([
    'clusters{available="true"} 2999',
    'clusters{available="false"} 1',
    'clusters_by_margin{margin="lost"} 1',
    'clusters_by_margin{margin="none"} 1',
    'clusters_by_margin{margin="some"} 2998',
    'clusters_by_margin{margin="unknown"} 0',
    'members{health="Healthy"} 8997',
    'members{health="Unhealthy"} 1',
    'members{health="Unknown"} 2',
    'db_usage_ratio 0.102999',
    'certificate_expiry_timestamp_seconds 1234',
    'last_survey_seconds 5',
    'backups{succeeded="true"} 2',
    'backups{succeeded="false"} 1',
    'backups_late 1',
    'backup_last_success_timestamp_seconds 400',
  ]);
});

test('what no one has is not reported, and what changes is reported again', async () => {
  const metrics = createMetrics({ now: () => NOW });
  const figures = async () =>
    (await metrics.text())
      .split('\n')
      .filter(line => /^etcd_operator_fleet_(db|cert|last|backup_)/.test(line));
  expect(await figures()).toEqual([]);
  metrics.knownClusters(() => [cluster(0, WELL)]);
  expect(await figures()).toEqual([
    'etcd_operator_fleet_db_usage_ratio 0.1',
    'etcd_operator_fleet_last_survey_seconds 5',
  ]);
  metrics.knownClusters(() => []);
  expect(await figures()).toEqual([]);
});

test('an operation is reported while it is under way, of its cluster and of the fleet', async () => {
  const clusters = [
    cluster(1, WELL),
    cluster(2, WELL, { operation: 'scaleCluster' }),
    cluster(3, WELL, { operation: 'scaleCluster' }),
    cluster(4, WELL, { operation: 'upgradeCluster' }),
  ];
  const notified = (found: readonly string[]) => found.filter(line => line.includes('operation='));
  expect(notified(await lines(2, { clusters }))).toEqual(
    expect.arrayContaining([
      'etcd_operator_fleet_operations{operation="scaleCluster"} 2',
      'etcd_operator_fleet_operations{operation="upgradeCluster"} 1',
      'etcd_operator_cluster_operation{namespace="team-4",name="c-4",operation="upgradeCluster"} 1',
    ]),
  );
  expect(notified(await lines(2, { clusters: clusters.slice(0, 1) }))).toEqual([]);
});
