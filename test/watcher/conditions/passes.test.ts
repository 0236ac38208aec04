import { describe, expect, test } from 'vitest';
import { API_VERSION, workflowId } from '../../../src/api/names.ts';
import { fault } from '../../fakes/kubernetes/kube.ts';
import { grpcFailure } from '../fakes.ts';
import { Harness } from '../harness.ts';
import { refTo } from '../objects.ts';

const example = refTo('EtcdCluster', 'example');
const quiet = refTo('EtcdCluster', 'quiet');
const nightly = refTo('EtcdBackup', 'nightly');
const available = {
  type: 'Available',
  status: 'True',
  reason: 'LinearizableRead',
  message: 'A linearizable read was answered.',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const healthy = { ...available, type: 'Healthy' };
const forbidden = 'POST /api/v1/namespaces/default/pods: 403 Forbidden: no rights';

/** Two clusters that are available, and a backup. */
async function running(): Promise<Harness> {
  const world = new Harness();
  await world.watcher.start();
  for (const ref of [example, quiet]) world.put(ref, { status: { conditions: [available, healthy] } });
  world.put(nightly, { status: {} });
  await world.clock.advance(30_000);
  return world;
}

function passFails(world: Harness, ref = example, id = 'run/7'): void {
  world.temporal.awaited.set(ref.uid, { id, kind: 'pass', attempt: 9, failure: forbidden });
}

describe('a pass that fails for a minute', () => {
  test('is said by a condition with its error, by Available, an event and a metric', async () => {
    const world = await running();
    passFails(world);
    await world.clock.advance(55_000);
    expect(world.conditions(example)['PassFailing']).toBeUndefined();
    await world.clock.advance(35_000);
    expect(world.conditions(example)).toMatchObject({
      PassFailing: { status: 'True', reason: 'PassFails', message: expect.stringContaining(forbidden) },
      Available: { status: 'Unknown', reason: 'NotLookedAt', observedGeneration: 1 },
      Healthy: healthy,
    });
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    expect(world.events).toEqual([expect.stringMatching(/^example PassFails: .*403 Forbidden/)]);
    expect(world.conditions(quiet)).toEqual({ Available: available, Healthy: healthy });
    await world.clock.advance(3_600_000);
    expect(world.events).toHaveLength(1);
    const writes = world.kube.calls.filter(({ verb, name }) => verb === 'patch' && name === 'example');
    expect(writes).toHaveLength(1);
    await world.stop();
  });

  test('is taken back when one has succeeded, and the resource is looked at', async () => {
    const world = await running();
    passFails(world);
    await world.clock.advance(90_000);
    const told = world.temporal.signals(example).length;
    world.temporal.awaited.clear();
    await world.clock.advance(25_000);
    expect(world.conditions(example)['PassFailing']).toMatchObject({ status: 'False' });
    expect(world.temporal.signals(example).length).toBe(told + 1);
    expect(world.withoutPass.get('EtcdCluster')).toBe(0);
    await world.stop();
  });

  test('of a backup has no Available to say so', async () => {
    const world = await running();
    passFails(world, nightly);
    await world.clock.advance(90_000);
    expect(world.conditions(nightly)).toMatchObject({ PassFailing: { status: 'True' } });
    expect(Object.keys(world.conditions(nightly))).toEqual(['PassFailing']);
    expect(world.withoutPass.get('EtcdBackup')).toBe(1);
    await world.stop();
  });

  test('because no status can be written is said by event, metric and log', async () => {
    const world = await running();
    const restore = world.kube.intercept(call => {
      if (call.verb === 'patch') throw fault(403, 'Forbidden');
    });
    passFails(world);
    await world.clock.advance(90_000);
    expect(world.conditions(example)['PassFailing']).toBeUndefined();
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    expect(world.events).toHaveLength(1);
    expect(world.logger.text()).toContain('no pass has succeeded');
    restore();
    await world.clock.advance(130_000);
    expect(world.conditions(example)['PassFailing']).toMatchObject({ status: 'True' });
    expect(world.events).toHaveLength(1);
    await world.stop();
  });

  test('is another one when one has succeeded in between, and not said', async () => {
    const world = await running();
    for (let round = 0; round < 10; round += 1) {
      passFails(world, example, `run/${round}`);
      await world.clock.advance(50_000);
    }
    expect(world.conditions(example)['PassFailing']).toBeUndefined();
    await world.stop();
  });
});

test('tasks that no worker completes for a minute are said, too', async () => {
  const world = await running();
  world.temporal.awaited.set(example.uid, { id: 'run/task', kind: 'task', attempt: 3, failure: undefined });
  await world.clock.advance(90_000);
  expect(world.conditions(example)).toMatchObject({
    PassFailing: { status: 'True', reason: 'TasksNotCompleted' },
    Available: { status: 'Unknown' },
  });
  await world.stop();
});

test('a workflow that waits at a task queue that nobody serves any more names it, and who is to serve it', async () => {
  const world = await running();
  const queues = { ofWorkflow: 'etcd-operator', ofOperator: 'etcd-operator-shop' };
  world.temporal.awaited.set(example.uid, {
    id: 'run/task',
    kind: 'task',
    attempt: 1,
    failure: undefined,
    queues,
  });
  await world.clock.advance(90_000);
  expect(world.conditions(example)['PassFailing']).toMatchObject({
    status: 'True',
    reason: 'OtherTaskQueue',
    message: expect.stringMatching(/serves "etcd-operator-shop".* TASK_QUEUE .* to "etcd-operator"\.$/),
  });
  await world.stop();
});

test('a Temporal that cannot be asked for a minute leaves it open whether passes are made', async () => {
  const world = await running();
  world.temporal.down();
  await world.clock.advance(95_000);
  expect(world.conditions(example)).toMatchObject({
    PassFailing: { status: 'Unknown', reason: 'TemporalUnreachable' },
    Available: { status: 'Unknown' },
  });
  world.temporal.up();
  await world.clock.advance(30_000);
  expect(world.conditions(example)['PassFailing']).toMatchObject({ status: 'False' });
  await world.stop();
});

test('a workflow that takes no signals leaves what is known of the passes of others', async () => {
  const world = await running();
  world.temporal.failure = id => (id === workflowId(example) ? grpcFailure(4) : undefined);
  world.put(example, { metadata: { generation: 2 }, status: { conditions: [available] } });
  await world.clock.advance(300_000);
  expect(world.conditions(example)['PassFailing']).toMatchObject({ status: 'Unknown' });
  expect(world.conditions(quiet)).toEqual({ Available: available, Healthy: healthy });
  await world.stop();
});

test('what the operator writes meanwhile stays: the list of conditions is written under its resource version', async () => {
  const world = await running();
  let others = 0;
  world.kube.intercept(call => {
    if (call.verb !== 'patch' || others > 0) return;
    others += 1;
    world.kube.mutate({ ...example, apiVersion: API_VERSION }, object => {
      object['status'] = { conditions: [{ ...available, status: 'False' }, healthy] };
    });
  });
  passFails(world);
  await world.clock.advance(120_000);
  expect(others).toBe(1);
  expect(world.conditions(example)).toMatchObject({
    PassFailing: { status: 'True' },
    Available: { status: 'Unknown' },
    Healthy: healthy,
  });
  await world.stop();
});

test('a replica that watches no more counts nothing', async () => {
  const world = await running();
  passFails(world);
  await world.clock.advance(90_000);
  expect(world.withoutPass.get('EtcdCluster')).toBe(1);
  world.watcher.pause();
  expect(world.withoutPass.get('EtcdCluster')).toBe(0);
  await world.stop();
});
