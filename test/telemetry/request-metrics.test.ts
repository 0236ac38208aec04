/** What is told of EtcdRequests in numbers. */
import { expect, it } from 'vitest';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { PAUSE, RequestWorld, example } from '../watcher/requests/request-world.ts';

/** The lines of EtcdRequests in Prometheus' text. */
async function lines(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  const text = await metrics.text();
  return text.split('\n').filter(line => line.startsWith('etcd_operator_requests_'));
}

it('those that wait, those under way and the age of the oldest that waits, on the replica that watches alone', async () => {
  const world = new RequestWorld();
  const metrics = createMetrics({ now: () => world.clock.date().getTime() });
  expect(await lines(metrics)).toEqual([]);
  metrics.knownRequests(() => world.watcher.stats().requests);
  await world.watcher.start();
  world.put(example);
  expect(await lines(metrics)).toEqual([
    'etcd_operator_requests_open{state="Waiting"} 0',
    'etcd_operator_requests_open{state="Accepted"} 0',
    'etcd_operator_requests_oldest_waiting_seconds 0',
  ]);
  world.requests.verdict = { state: 'waiting', message: 'no pass has judged it yet' };
  world.ask('first', { ...PAUSE, action: 'ReplaceMember', member: 'example-1' });
  await world.pass(30_000, 'first');
  world.ask('second', { ...PAUSE, action: 'ReplaceMember', member: 'example-2' });
  expect(await lines(metrics)).toEqual([
    'etcd_operator_requests_open{state="Waiting"} 2',
    'etcd_operator_requests_open{state="Accepted"} 0',
    'etcd_operator_requests_oldest_waiting_seconds 30',
  ]);
  world.requests.ends('accepted', 'it is replaced');
  await world.pass(15_000, 'first', 'second');
  expect(await lines(metrics)).toEqual([
    'etcd_operator_requests_open{state="Waiting"} 1',
    'etcd_operator_requests_open{state="Accepted"} 1',
    'etcd_operator_requests_oldest_waiting_seconds 15',
  ]);
  world.watcher.pause();
  expect(await lines(metrics)).toEqual([]);
  await world.stop();
});

it('each that ended is counted once, by action and outcome, and an action of a later release as Other', async () => {
  const world = new RequestWorld();
  await world.watcher.start();
  world.put(example);
  world.ask('stop');
  await world.pass(30_000, 'stop');
  world.requests.verdict = { state: 'refused', message: 'example-9 is not a member' };
  world.ask('replace', { ...PAUSE, action: 'ReplaceMember', member: 'example-9' });
  world.ask('later', { ...PAUSE, action: 'Defragment' as 'Pause' });
  await world.pass(30_000, 'replace', 'later');
  expect(world.requestsEnded.toSorted()).toEqual([
    'Other Refused',
    'Pause Completed',
    'ReplaceMember Refused',
  ]);
  await world.stop();
});

it('counters carry no other labels', async () => {
  const metrics = createMetrics();
  metrics.watcher.requestEnded('Pause', 'Completed');
  metrics.watcher.requestEnded('Pause', 'Completed');
  expect(await lines(metrics)).toContain(
    'etcd_operator_requests_total{action="Pause",outcome="Completed"} 2',
  );
});
