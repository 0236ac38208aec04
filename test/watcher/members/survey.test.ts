import { describe, expect, test } from 'vitest';
import { FINALIZER } from '../../../src/api/names.ts';
import type { WatcherTimings } from '../../../src/watcher/options.ts';
import type { Survey } from '../../../src/watcher/members/agreement.ts';
import { Harness } from '../harness.ts';
import { owned, refTo } from '../objects.ts';

const example = refTo('EtcdCluster', 'example');
const STATUS = {
  size: 1,
  members: {
    details: [{ name: 'example-0', id: 'a0', role: 'Leader', version: '3.6.16', health: 'Healthy' }],
  },
};
const WELL: Survey = {
  probes: {
    'example-0': {
      answered: true,
      memberId: 'a0',
      leaderId: 'a0',
      isLearner: false,
      version: '3.6.16',
      dbSize: 20_480,
      errors: [],
      read: { ok: true },
    },
  },
  membership: { known: true, members: [{ id: 'a0', name: 'example-0', peerUrls: ['http://a:2380'] }] },
};
/** Somebody added a second member. */
const GROWN: Survey = {
  ...WELL,
  membership: {
    known: true,
    members: [
      { id: 'a0', name: 'example-0', peerUrls: ['http://a:2380'] },
      { id: 'b1', name: 'example-1', peerUrls: ['http://b:2380'] },
    ],
  },
};
const MINUTE = 60_000;

/** A cluster of one member that is well. */
async function settled(
  more: Record<string, unknown> = {},
  timings: Partial<WatcherTimings> = {},
): Promise<Harness> {
  const world = new Harness(1, { surveyPaceMs: 250, ...timings });
  await world.watcher.start();
  world.surveys.set('example', WELL);
  world.put(example, { status: STATUS, ...more });
  world.reflectors.put(
    owned('Pod', 'example-0', example, { status: { phase: 'Running', podIP: '10.0.0.7' } }),
  );
  await world.clock.advance(2_000);
  return world;
}

describe('the members of a cluster', () => {
  test('are asked each minute, and nothing is enqueued while they say what the status says', async () => {
    const world = await settled();
    const before = world.temporal.signals(example).length;
    await world.clock.advance(10 * MINUTE);
    expect(world.surveyed.length).toBeGreaterThanOrEqual(9);
    expect(world.surveyed.length).toBeLessThanOrEqual(11);
    expect(world.temporal.signals(example)).toHaveLength(before);
    await world.stop();
  });

  test.each<[string, Survey]>([
    ['somebody added a member', GROWN],
    ['nobody can be reached', { probes: {}, membership: { known: false, message: 'no certificate' } }],
  ])('have it looked at each minute while %s', async (_, seen) => {
    const world = await settled();
    const before = world.temporal.signals(example).length;
    world.surveys.set('example', seen);
    await world.clock.advance(5 * MINUTE);
    const count = world.temporal.signals(example).length - before;
    expect(count).toBeGreaterThanOrEqual(4);
    expect(count).toBeLessThanOrEqual(6);
    world.surveys.set('example', WELL);
    await world.clock.advance(MINUTE);
    const after = world.temporal.signals(example).length;
    await world.clock.advance(10 * MINUTE);
    expect(world.temporal.signals(example)).toHaveLength(after);
    await world.stop();
  });

  test('are asked while an operation is under way, which looks at them itself: nothing is enqueued until it has ended', async () => {
    const world = await settled();
    const operated = { ...STATUS, operation: { type: 'scaleCluster' } };
    world.put(example, { status: operated });
    await world.clock.advance(MINUTE);
    const before = world.temporal.signals(example).length;
    world.surveys.set('example', GROWN);
    await world.clock.advance(5 * MINUTE);
    expect(world.temporal.signals(example)).toHaveLength(before);
    world.put(example, { status: STATUS });
    await world.clock.advance(MINUTE);
    expect(world.temporal.signals(example)).toHaveLength(before + 1);
    await world.stop();
  });

  test('have it looked at once when the list changed, and no more when the status says the same', async () => {
    const world = await settled();
    world.surveys.set('example', GROWN);
    const [detail] = STATUS.members.details;
    const second = { ...detail, name: 'example-1', id: 'b1', role: 'Follower', health: 'Unknown' };
    world.put(example, { status: { ...STATUS, size: 2, members: { details: [detail, second] } } });
    const before = world.temporal.signals(example).length;
    await world.clock.advance(5 * MINUTE);
    expect(world.temporal.signals(example)).toHaveLength(before + 1);
    await world.stop();
  });

  test('are not asked of a cluster that has none, or no pods, and a cluster that is gone is forgotten', async () => {
    const world = await settled();
    const empty = refTo('EtcdCluster', 'empty');
    world.put(empty);
    world.put(refTo('EtcdCluster', 'asleep'), { status: STATUS });
    // A pod that names the cluster, in another namespace or without being controlled by it, is none of its own.
    const visitor = owned('Pod', 'visitor-0', refTo('EtcdCluster', 'empty'), {
      status: { phase: 'Running', podIP: '10.0.0.9' },
    });
    world.reflectors.put({ ...visitor, metadata: { ...visitor.metadata, namespace: 'other' } });
    const [owner] = visitor.metadata.ownerReferences ?? [];
    const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: false }];
    world.reflectors.put({ ...visitor, metadata: { ...visitor.metadata, name: 'empty-0', ownerReferences } });
    await world.clock.advance(2 * MINUTE);
    expect(new Set(world.surveyed)).toEqual(new Set(['example']));
    world.reflectors.remove(world.put(example));
    await world.clock.advance(2_000);
    expect(world.forgotten).toEqual([example.uid]);
    expect(world.watcher.clusters().map(({ name }) => name)).not.toContain('example');
    await world.stop();
  });

  test('are asked where the status says that they are, with nothing to be read, unless they have certificates', async () => {
    const member = { name: 'example-0', peerURL: 'http://example-0.example.default.svc.lab.internal:2380' };
    const incarnation = { token: 'example-1', members: [member] };
    const plain = await settled({ status: { ...STATUS, incarnation } });
    expect(new Set(plain.plainDomains)).toEqual(new Set(['lab.internal']));
    await plain.stop();
    const secured = await settled({ spec: { TLS: { static: { operatorSecret: 'client' } } } });
    expect(new Set(secured.plainDomains)).toEqual(new Set([undefined]));
    await secured.stop();
  });

  test('have it looked at once when a peer URL was changed with etcdctl', async () => {
    const world = await settled();
    const before = world.temporal.signals(example).length;
    const moved = { id: 'a0', name: 'example-0', peerUrls: ['http://elsewhere:2380'] };
    world.surveys.set('example', { ...WELL, membership: { known: true, members: [moved] } });
    await world.clock.advance(5 * MINUTE);
    expect(world.temporal.signals(example)).toHaveLength(before + 1);
    await world.stop();
  });

  test('that are slow to answer hold up no other cluster', async () => {
    const world = await settled();
    world.hangs.add('slow');
    const slow = refTo('EtcdCluster', 'slow');
    world.put(slow, { status: STATUS });
    world.reflectors.put(owned('Pod', 'slow-0', slow, { status: { phase: 'Running', podIP: '10.0.0.8' } }));
    const before = world.surveyed.length;
    await world.clock.advance(10 * MINUTE);
    expect(world.surveyed.slice(before).filter(name => name === 'example').length).toBeGreaterThanOrEqual(9);
    world.hangs.clear();
    await world.stop();
  });

  test('say how large their databases are, for the metrics', async () => {
    const world = await settled();
    await world.clock.advance(2 * MINUTE);
    expect(world.watcher.clusters()).toMatchObject([
      { name: 'example', reported: { size: 3, listed: 1 }, asked: { dbSize: 20_480 } },
    ]);
    await world.stop();
  });

  test('are asked a few clusters at a time, however many there are', async () => {
    const world = new Harness(1, { surveyPaceMs: 250 });
    await world.watcher.start();
    for (let index = 0; index < 600; index += 1) {
      const ref = refTo('EtcdCluster', `c${index}`);
      world.put(ref, { status: STATUS });
      world.reflectors.put(
        owned('Pod', `c${index}-0`, ref, { status: { phase: 'Running', podIP: '10.0.0.7' } }),
      );
    }
    await world.clock.advance(MINUTE);
    expect(world.surveyed.length).toBeLessThanOrEqual(4 * 60);
    await world.clock.advance(4 * MINUTE);
    expect(new Set(world.surveyed).size).toBe(600);
    await world.stop();
  });
});

describe('an EtcdBackup', () => {
  const nightly = refTo('EtcdBackup', 'nightly');
  const spec = { clusterRef: { name: 'example' } };

  test('has its cluster looked at when a run has ended, and itself not', async () => {
    const world = await settled();
    world.put(nightly, { spec, status: { nextRun: 'tomorrow' } });
    await world.clock.advance(MINUTE);
    const before = [world.temporal.signals(example).length, world.temporal.signals(nightly).length];
    world.put(nightly, { spec, status: { nextRun: 'tomorrow', progress: {} } });
    world.put(nightly, { spec, status: { nextRun: 'the day after', lastRun: { outcome: 'Succeeded' } } });
    await world.clock.advance(5_000);
    expect(world.temporal.signals(example)).toHaveLength((before[0] ?? 0) + 1);
    expect(world.temporal.signals(nightly)).toHaveLength(before[1] ?? 0);
    await world.stop();
  });

  test('has its cluster looked at when a backup that is not its newest is found bad', async () => {
    const world = await settled();
    const entries = (verified: string) => [
      { location: 's3://b/2', verified: '' },
      { location: 's3://b/1', verified },
    ];
    world.put(nightly, { spec, status: { history: entries('Checksum') } });
    await world.clock.advance(MINUTE);
    const before = world.temporal.signals(example).length;
    world.put(nightly, { spec, status: { history: entries('') } });
    await world.clock.advance(5_000);
    expect(world.temporal.signals(example)).toHaveLength(before + 1);
    await world.stop();
  });

  test('has the cluster looked at that it is about no more', async () => {
    const world = await settled();
    world.put(nightly, { spec });
    await world.clock.advance(MINUTE);
    const before = world.temporal.signals(example).length;
    world.put(nightly, { spec: { clusterRef: { name: 'other' } }, metadata: { generation: 2 } });
    await world.clock.advance(5_000);
    expect(world.temporal.signals(example)).toHaveLength(before + 1);
    await world.stop();
  });
});

describe('an EtcdCluster', () => {
  const whole = {
    status: { ...STATUS, observedGeneration: 1, clusterID: 'c0ffee', incarnation: { token: 'example-1' } },
    metadata: { finalizers: [FINALIZER] },
  };

  test.each<[string, Record<string, unknown>]>([
    ['its status', { ...whole, status: {} }],
    ['the identity in its status', { ...whole, status: { ...whole.status, clusterID: undefined } }],
    ['its finalizer', { ...whole, metadata: {} }],
  ])('is looked at when somebody takes away %s', async (_, left) => {
    const world = await settled(whole);
    const before = world.temporal.signals(example).length;
    world.put(example, left);
    await world.clock.advance(5_000);
    expect(world.temporal.signals(example)).toHaveLength(before + 1);
    await world.stop();
  });

  test('that cannot be read ends no watch', async () => {
    const world = await settled();
    world.put(refTo('EtcdCluster', 'odd'), { spec: { profile: 'OfAnotherRelease', version: 3 } });
    await world.clock.advance(5_000);
    expect(world.temporal.signals(refTo('EtcdCluster', 'odd'))).toHaveLength(1);
    await world.stop();
  });
});
