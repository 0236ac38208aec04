import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/planner/operations/index.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

test('what is fed can be scraped', async () => {
  const metrics = createMetrics();
  let depth = 2;
  metrics.queueDepth(() => depth);
  metrics.leader(true);
  metrics.pass({ decision: 'idle', ended: undefined });
  metrics.watcher.eventSeen('Pod', true);
  metrics.watcher.eventSeen('Pod', false);
  metrics.watcher.signalSent('EtcdCluster', 'delivered', 0.01);
  metrics.watcher.signalSent('EtcdCluster', 'delivered', 0.04);
  metrics.watcher.signalSent('EtcdCluster', 'unavailable', 5);
  metrics.kubeCall({ method: 'GET', kind: 'Pod', code: 404, durationMs: 12 });
  depth = 5;
  const lines = (await metrics.text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'etcd_operator_watch_queue_depth 5',
      'etcd_operator_watcher_leader 1',
      'etcd_operator_passes_total{decision="idle"} 1',
      'etcd_operator_watch_events_total{kind="Pod",enqueued="true"} 1',
      'etcd_operator_watch_events_total{kind="Pod",enqueued="false"} 1',
      'etcd_operator_signal_duration_seconds_count{kind="EtcdCluster",outcome="delivered"} 2',
      'etcd_operator_signal_duration_seconds_sum{kind="EtcdCluster",outcome="unavailable"} 5',
      'etcd_operator_kubernetes_call_duration_seconds_sum{method="GET",kind="Pod",code="404"} 0.012',
    ]),
  );
});

test('counters whose first increase matters begin at zero', async () => {
  const lines = (await createMetrics().text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'etcd_operator_uncaught_errors_total{origin="uncaughtException"} 0',
      'etcd_operator_uncaught_errors_total{origin="unhandledRejection"} 0',
      ...['Succeeded', 'Failed', 'Aborted'].map(
        outcome => `etcd_operator_backups_total{outcome="${outcome}"} 0`,
      ),
      ...Object.keys(OPERATIONS).flatMap(operation =>
        ['Succeeded', 'Failed', 'Aborted', 'Superseded', 'Interrupted', 'RolledBack'].map(
          outcome => `etcd_operator_operations_total{operation="${operation}",outcome="${outcome}"} 0`,
        ),
      ),
    ]),
  );
});
