import { beforeEach, expect, test } from 'vitest';
import type { ClusterFigures, PassReport } from '../../src/activities/runtime/pass-report.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';

const well: ClusterFigures = {
  size: 3,
  members: { Healthy: 2, Unhealthy: 0, Unknown: 1 },
  available: true,
  quorumMargin: 0,
  dbSize: 20_480,
  quota: 2_147_483_648,
  read: true,
};
const pass = (change: Partial<PassReport> = {}): PassReport => ({
  cluster: { namespace: 'prod', name: 'a', uid: 'uid-1' },
  decision: 'idle',
  figures: well,
  ended: undefined,
  ...change,
});

let now = 0;
let metrics: Metrics;
beforeEach(() => {
  now = 1_000_000;
  metrics = createMetrics({ now: () => now });
});

async function ofCluster(name = 'a'): Promise<string[]> {
  const lines = (await metrics.text()).split('\n');
  return lines
    .filter(line => line.startsWith('etcd_operator_cluster_') && line.includes(`name="${name}"`))
    .map(line => line.slice('etcd_operator_cluster_'.length).replace(`namespace="prod",name="${name}"`, ''));
}

test('a cluster is told by what the last pass saw', async () => {
  metrics.pass(pass({ figures: { ...well, available: false, quorumMargin: -1 } }));
  metrics.pass(pass());
  now += 7_000;
  expect(await ofCluster()).toEqual([
    'size{} 3',
    'available{} 1',
    'quorum_margin{} 0',
    'db_size_bytes{} 20480',
    'db_quota_bytes{} 2147483648',
    'last_pass_seconds{} 7',
    'last_linearizable_read_seconds{} 7',
    'members{,health="Healthy"} 2',
    'members{,health="Unhealthy"} 0',
    'members{,health="Unknown"} 1',
  ]);
});

test('the last read ages while none goes through; what was not seen is not told', async () => {
  metrics.pass(pass());
  now += 30_000;
  metrics.pass(pass({ figures: { ...well, read: false, dbSize: undefined, quorumMargin: undefined } }));
  const lines = await ofCluster();
  expect(lines).toContain('last_linearizable_read_seconds{} 30');
  expect(lines).toContain('last_pass_seconds{} 0');
  expect(lines.filter(line => /^(db_size|quorum_margin)/.test(line))).toEqual([]);
});

test('a cluster that is gone has no gauge; another one of its name keeps its own', async () => {
  metrics.pass(pass());
  metrics.pass(pass({ cluster: { namespace: 'prod', name: 'b', uid: 'uid-2' } }));
  metrics.pass(pass({ decision: 'gone', figures: undefined }));
  expect(await ofCluster()).toEqual([]);
  expect(await ofCluster('b')).toHaveLength(10);
  metrics.pass(pass({ cluster: { namespace: 'prod', name: 'a', uid: 'uid-3' } }));
  metrics.pass(pass({ decision: 'gone', figures: undefined }));
  expect(await ofCluster()).toHaveLength(10);
});

test('a cluster that another replica looks at now is forgotten', async () => {
  metrics.pass(pass());
  now += 5 * 60_000 + 1;
  expect(await ofCluster()).toEqual([]);
});

test('operations are counted by type and outcome, with what they took', async () => {
  metrics.pass(pass({ ended: { type: 'createCluster', outcome: 'Succeeded', seconds: 4 } }));
  metrics.pass(pass({ ended: { type: 'createCluster', outcome: 'Succeeded', seconds: undefined } }));
  const lines = (await metrics.text()).split('\n');
  expect(lines).toContain('etcd_operator_operations_total{operation="createCluster",outcome="Succeeded"} 2');
  expect(lines).toContain(
    'etcd_operator_operation_duration_seconds_sum{operation="createCluster",outcome="Succeeded"} 4',
  );
  expect(lines).toContain(
    'etcd_operator_operation_duration_seconds_count{operation="createCluster",outcome="Succeeded"} 1',
  );
});

test('no label of any metric is finer than a resource', () => {
  const labels = new Set(metrics.descriptions.flatMap(metric => metric.labels));
  expect([...labels].sort()).toEqual(
    [
      'activity',
      'code',
      'decision',
      'health',
      'kind',
      'method',
      'name',
      'namespace',
      'operation',
      'origin',
      'outcome',
      'told',
    ].sort(),
  );
});

test('the first expiry of a certificate is told where there is one', async () => {
  metrics.pass(pass());
  expect((await ofCluster()).join()).not.toContain('certificate');
  metrics.pass(pass({ figures: { ...well, certificateExpiry: 1_800_000_000 } }));
  expect(await ofCluster()).toContain('certificate_expiry_timestamp_seconds{} 1800000000');
});

test('how long members took to come up with another version is counted', async () => {
  metrics.pass(pass({ upgraded: [3, 40] }));
  const lines = (await metrics.text()).split('\n');
  expect(lines).toContain('etcd_operator_member_upgrade_duration_seconds_sum 43');
  expect(lines).toContain('etcd_operator_member_upgrade_duration_seconds_bucket{le="5"} 1');
});
