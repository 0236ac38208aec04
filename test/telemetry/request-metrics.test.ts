/** What is reported of EtcdRequests in numbers. */
import { expect, it } from 'vitest';
import { createMetrics } from '../../src/telemetry/metrics.ts';

/** The lines of EtcdRequests in Prometheus' text. */
async function lines(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  const text = await metrics.text();
  return text.split('\n').filter(line => line.startsWith('etcd_operator_requests_'));
}

it('reports those that wait, those under way and the age of the oldest that waits, where something watches', async () => {
  const metrics = createMetrics({ now: () => 40_000 });
  expect(await lines(metrics)).toEqual([]);
  metrics.knownRequests(() => ({ waiting: 2, accepted: 1, oldestWaiting: 10_000 }));
  expect(await lines(metrics)).toEqual([
    'etcd_operator_requests_open{state="Waiting"} 2',
    'etcd_operator_requests_open{state="Accepted"} 1',
    'etcd_operator_requests_oldest_waiting_seconds 30',
  ]);
  metrics.knownRequests(() => ({ waiting: 0, accepted: 0, oldestWaiting: undefined }));
  expect(await lines(metrics)).toContain('etcd_operator_requests_oldest_waiting_seconds 0');
  metrics.knownRequests(() => undefined);
  expect(await lines(metrics)).toEqual([]);
});

it('counts those that ended by action and outcome, with no other labels', async () => {
  const metrics = createMetrics();
  metrics.request('Pause', 'Completed');
  metrics.request('Pause', 'Completed');
  expect(await lines(metrics)).toContain(
    'etcd_operator_requests_total{action="Pause",outcome="Completed"} 2',
  );
});
