import { beforeEach, expect, test } from 'vitest';
import type { PassReport } from '../../src/activities/runtime/pass-report.ts';
import type { KnownCluster } from '../../src/telemetry/cluster-metrics.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';

const member = (name: string, health: string, role = 'Follower') => ({
  name,
  id: name,
  version: '3.6.16',
  role,
  health,
});
const reported: KnownCluster['reported'] = {
  size: 3,
  listed: 3,
  members: [member('a-0', 'Healthy', 'Leader'), member('a-1', 'Healthy'), member('a-2', 'Unknown')],
  available: true,
  quota: 2_147_483_648,
};
const pass = (change: Partial<PassReport> = {}): PassReport => ({
  decision: 'idle',
  ended: undefined,
  ...change,
});

let now = 0;
let metrics: Metrics;
beforeEach(() => {
  now = 1_000_000;
  metrics = createMetrics({ now: () => now });
});

const knows = (...clusters: readonly Partial<KnownCluster>[]): void => {
  const known = clusters.map(change => ({
    namespace: 'prod',
    name: 'a',
    reported,
    asked: { dbSize: 20_480, askedAt: now, readAt: now },
    ...change,
  }));
  metrics.knownClusters(() => known);
};

async function ofCluster(name = 'a'): Promise<string[]> {
  const lines = (await metrics.text()).split('\n');
  return lines
    .filter(line => line.startsWith('etcd_operator_cluster_') && line.includes(`name="${name}"`))
    .map(line => line.slice('etcd_operator_cluster_'.length).replace(`namespace="prod",name="${name}"`, ''));
}

test('a cluster is described by its status and by what its members said last', async () => {
  knows({});
  now += 7_000;
  expect(await ofCluster()).toEqual([
    'size{} 3',
    'available{} 1',
    'quorum_margin{} 0',
    'db_size_bytes{} 20480',
    'db_quota_bytes{} 2147483648',
    'last_survey_seconds{} 7',
    'last_linearizable_read_seconds{} 7',
    'members{,health="Healthy"} 2',
    'members{,health="Unhealthy"} 0',
    'members{,health="Unknown"} 1',
  ]);
});

test('a learner is no part of the quorum', async () => {
  knows({ reported: { ...reported, members: [...reported.members, member('a-3', 'Healthy', 'Learner')] } });
  expect(await ofCluster()).toContain('quorum_margin{} 0');
});

test('the last read ages while none goes through; what was not seen is not reported', async () => {
  knows({
    asked: { dbSize: undefined, askedAt: now, readAt: now - 30_000 },
    reported: { ...reported, members: [] },
  });
  const lines = await ofCluster();
  expect(lines).toContain('last_linearizable_read_seconds{} 30');
  expect(lines).toContain('last_survey_seconds{} 0');
  expect(lines.filter(line => /^(db_size|quorum_margin)/.test(line))).toEqual([]);
  knows({ asked: undefined });
  expect((await ofCluster()).filter(line => /^(db_size|last_)/.test(line))).toEqual([]);
});

test('a cluster that is gone has no gauge, and none has any on a replica that does not watch', async () => {
  knows({}, { name: 'b' });
  expect(await ofCluster('b')).toHaveLength(10);
  knows({ name: 'b' });
  expect(await ofCluster()).toEqual([]);
  expect(await ofCluster('b')).toHaveLength(10);
  knows();
  expect(await ofCluster('b')).toEqual([]);
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
      'action',
      'activity',
      'available',
      'code',
      'decision',
      'health',
      'enqueued',
      'kind',
      'margin',
      'method',
      'name',
      'namespace',
      'operation',
      'origin',
      'outcome',
      'reason',
      'state',
      'step',
      'succeeded',
      'type',
    ].sort(),
  );
});

test('the first expiry of a certificate is reported where there is one', async () => {
  knows({});
  expect((await ofCluster()).join()).not.toContain('certificate');
  knows({ reported: { ...reported, certificateExpiry: 1_800_000_000 } });
  expect(await ofCluster()).toContain('certificate_expiry_timestamp_seconds{} 1800000000');
});

test('how long members took to come up with another version is counted', async () => {
  metrics.pass(pass({ upgraded: [3, 40] }));
  const lines = (await metrics.text()).split('\n');
  expect(lines).toContain('etcd_operator_member_upgrade_duration_seconds_sum 43');
  expect(lines).toContain('etcd_operator_member_upgrade_duration_seconds_bucket{le="5"} 1');
});

test('passes that repaired shared objects by themselves are counted by step, from 0', async () => {
  metrics.pass(pass({ repaired: 'ensureObjects' }));
  const lines = (await metrics.text()).split('\n');
  expect(lines).toContain('etcd_operator_pass_repairs_total{step="ensureObjects"} 1');
  expect(lines).toContain('etcd_operator_pass_repairs_total{step="applyObjects"} 0');
});
