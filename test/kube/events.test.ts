import { afterEach, describe, expect, it } from 'vitest';
import { createEventRecorder, type EventRecorderOptions } from '../../src/kube/events.ts';
import { TokenBuckets } from '../../src/kube/token-buckets.ts';
import { FakeKube, fault } from '../fakes/kubernetes/kube.ts';
import { memoryLogger } from './support.ts';

const cluster = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'example', namespace: 'default', uid: 'u1', resourceVersion: '7' },
};
const started = { type: 'Normal', reason: 'MemberAdded', message: 'Member example-1 was added' } as const;

describe('the event recorder', () => {
  let now = new Date('2026-01-02T03:04:05.678Z');
  let kube = new FakeKube();
  const logger = memoryLogger();
  const recorder = (options: Partial<EventRecorderOptions> = {}) =>
    createEventRecorder({ client: kube, instance: 'operator-0', now: () => now, logger, ...options });
  afterEach(() => {
    kube = new FakeKube();
    now = new Date('2026-01-02T03:04:05.678Z');
    logger.lines.length = 0;
  });

  it('writes what kubectl describe shows', async () => {
    const events = recorder();
    events.record(cluster, started);
    await events.flush();
    expect(kube.all('Event')).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: expect.objectContaining({
          name: expect.stringMatching(/^example\.[0-9a-f]{16}$/),
          namespace: 'default',
        }),
        involvedObject: {
          apiVersion: cluster.apiVersion,
          kind: 'EtcdCluster',
          name: 'example',
          namespace: 'default',
          uid: 'u1',
          resourceVersion: '7',
        },
        ...started,
        count: 1,
        firstTimestamp: '2026-01-02T03:04:05Z',
        lastTimestamp: '2026-01-02T03:04:05Z',
        source: { component: 'etcd-operator' },
        reportingComponent: 'etcd-operator',
        reportingInstance: 'operator-0',
      },
    ]);
  });

  it('counts a repeated event, also after a restart, and not another message or a namesake', async () => {
    const events = recorder();
    events.record(cluster, started);
    events.record(cluster, started);
    await events.flush();
    now = new Date('2026-01-02T03:05:00Z');
    const restarted = recorder({ instance: 'operator-1' });
    restarted.record({ ...cluster, metadata: { ...cluster.metadata, resourceVersion: '9' } }, started);
    restarted.record(cluster, { ...started, message: 'Member example-2 was added' });
    restarted.record({ ...cluster, metadata: { ...cluster.metadata, uid: 'u2' } }, started);
    await restarted.flush();
    const written = kube
      .all('Event')
      .map(event => [
        event['count'],
        event['firstTimestamp'],
        event['lastTimestamp'],
        event['reportingInstance'],
      ]);
    const once = [1, '2026-01-02T03:05:00Z', '2026-01-02T03:05:00Z', 'operator-1'];
    const thrice = [3, '2026-01-02T03:04:05Z', '2026-01-02T03:05:00Z', 'operator-1'];
    expect(written).toHaveLength(3);
    expect(written).toEqual(expect.arrayContaining([once, once, thrice]));
    expect(written.filter(entry => entry[0] === 1)).toHaveLength(2);
  });

  it('makes an expired event again', async () => {
    const events = recorder();
    events.record(cluster, started);
    await events.flush();
    kube.intercept(call => {
      if (call.verb !== 'patch') return;
      for (const event of kube.all('Event')) {
        const { name, namespace } = event.metadata;
        kube.finishDeletion({ apiVersion: 'v1', kind: 'Event', namespace, name });
      }
    });
    events.record(cluster, started);
    await events.flush();
    expect(kube.all('Event')).toEqual([expect.objectContaining({ count: 1 })]);
  });

  it('puts events of cluster-scoped objects into default, and cuts long texts and names', async () => {
    const events = recorder();
    events.record(
      { apiVersion: 'v1', kind: 'Node', metadata: { name: `${'n'.repeat(199)}.x` } },
      { ...started, message: 'm'.repeat(5_000) },
    );
    await events.flush();
    const [event] = kube.all('Event');
    expect(event?.metadata.namespace).toBe('default');
    expect(event?.metadata.name).toMatch(/^n{199}\.[0-9a-f]{16}$/);
    expect(event?.['message']).toHaveLength(1_024);
  });

  it('never throws into its caller, whatever happens', async () => {
    const outcomes: string[] = [];
    const events = recorder({ report: outcome => outcomes.push(outcome) });
    kube.intercept(() => {
      throw fault(503, 'ServiceUnavailable');
    });
    events.record(cluster, started);
    events.record({ ...cluster, metadata: {} }, started);
    events.record(null as never, started);
    events.record(cluster, { ...started, message: undefined as never });
    await events.flush();
    expect(kube.all('Event')).toEqual([]);
    expect(outcomes).toEqual(['failed']);
    expect(logger.lines.map(line => line.message)).toContain('an event could not be written');
  });

  it('limits the events about one object, not those about others', async () => {
    const outcomes: string[] = [];
    const events = recorder({ burst: 3, refillMs: 3_600_000, report: outcome => outcomes.push(outcome) });
    for (let i = 0; i < 10; i += 1) events.record(cluster, { ...started, message: `message ${i}` });
    events.record({ ...cluster, metadata: { ...cluster.metadata, name: 'other' } }, started);
    await events.flush();
    expect(kube.all('Event')).toHaveLength(4);
    expect(outcomes.filter(outcome => outcome === 'limited')).toHaveLength(7);
  });

  it('drops what comes when too many of a namespace wait', async () => {
    const outcomes: string[] = [];
    const events = recorder({ burst: 5_000, report: outcome => outcomes.push(outcome) });
    for (let i = 0; i < 1_101; i += 1) events.record(cluster, { ...started, message: `message ${i}` });
    await events.flush();
    expect(outcomes.filter(outcome => outcome === 'dropped')).toHaveLength(100);
    expect(kube.all('Event')).toHaveLength(1_001);
  });

  it('keeps back and drops the events of the namespace that has too many, and no others', async () => {
    const events = recorder({ burst: 5_000 });
    const of = (namespace: string) => ({ ...cluster, metadata: { ...cluster.metadata, namespace } });
    for (let i = 0; i < 10; i += 1) events.record(of('calm'), { ...started, message: `first ${i}` });
    for (let i = 0; i < 3_000; i += 1) events.record(of('storm'), { ...started, message: `message ${i}` });
    for (let i = 0; i < 10; i += 1) events.record(of('calm'), { ...started, message: `last ${i}` });
    await events.flush();
    expect(kube.all('Event', 'calm')).toHaveLength(20);
    expect(kube.all('Event', 'storm')).toHaveLength(1_000);
    const created = kube.calls.filter(({ verb }) => verb === 'create').map(({ namespace }) => namespace);
    // One of the storm before each of them, at most.
    expect(created.lastIndexOf('calm')).toBeLessThan(40);
  });
});

describe('token buckets', () => {
  it('refill with time, to the brim, and forget the longest unused key', () => {
    let clock = 0;
    const buckets = new TokenBuckets({ burst: 2, refillMs: 10, keys: 2 }, () => clock);
    expect([buckets.take('a'), buckets.take('a'), buckets.take('a')]).toEqual([true, true, false]);
    clock = 10;
    expect([buckets.take('a'), buckets.take('a')]).toEqual([true, false]);
    clock = 1_000;
    expect([buckets.take('a'), buckets.take('a'), buckets.take('a')]).toEqual([true, true, false]);
    buckets.take('b');
    buckets.take('c');
    expect(buckets.take('a')).toBe(true);
  });
});
