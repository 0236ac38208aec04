import { describe, expect, test } from 'vitest';
import { API_VERSION, workflowId } from '../../../src/api/names.ts';
import { fault } from '../../fakes/kubernetes/kube.ts';
import type { Changed } from '../../../src/workflows/messages/resource.ts';
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
const settled = { observedGeneration: 1, conditions: [available, healthy] };
/** As the activity of a workflow writes it. */
const failing = {
  ...available,
  type: 'PassFailing',
  reason: 'PassFails',
  message: 'Since then no pass of this resource has succeeded: 403 Forbidden: no rights.',
};

/** Two clusters that are available, and a backup: nothing is to be done for any of them. */
async function running(): Promise<Harness> {
  const world = new Harness();
  await world.watcher.start();
  for (const ref of [example, quiet]) world.put(ref, { status: settled });
  world.put(nightly, { status: { observedGeneration: 1 } });
  await world.clock.advance(30_000);
  return world;
}

/** From now on no worker asks for tasks. */
function silence(world: Harness): void {
  world.temporal.pollersNow = [{ identity: 'a@0123456789ab', polledAt: world.clock.date().getTime() }];
}

/** Its specification was edited, and no pass has observed it. */
function edited(world: Harness, ref = example): void {
  world.put(ref, { metadata: { generation: 2 }, status: world.stored(ref)?.['status'] });
}

describe('resources for which nothing is to be done', () => {
  test('cost one list of workflows a minute, however many there are', async () => {
    const world = await running();
    const lists = world.temporal.runningCalls;
    await world.clock.advance(600_000);
    expect(world.temporal.runningCalls - lists).toBe(10);
    await world.stop();
  });

  test('have their workflow started again within a minute when a user terminated it', async () => {
    const world = await running();
    for (const ref of [example, nightly]) {
      const workflow = world.temporal.workflows.get(workflowId(ref));
      if (workflow !== undefined) workflow.running = false;
    }
    const before = world.temporal.signals(quiet).length;
    await world.clock.advance(65_000);
    for (const ref of [example, nightly])
      expect(world.temporal.workflows.get(workflowId(ref))).toMatchObject({ running: true, started: 2 });
    expect(world.temporal.signals(quiet)).toHaveLength(before);
    await world.stop();
  });
});

test('an EtcdBackup whose workflow was terminated gets it again while its backups are being copied', async () => {
  const world = await running();
  const { workflows } = world.temporal;
  const id = workflowId(nightly);
  const workflow = workflows.get(id);
  if (workflow === undefined) throw new Error('it has no workflow');
  workflow.running = false;
  workflows.set(`${id}/copies`, { ...workflow, running: true });
  await world.clock.advance(65_000);
  expect(workflows.get(id)).toMatchObject({ running: true, started: 2 });
  await world.stop();
});

describe('passes that fail, as their workflow says', () => {
  test('are counted by the condition', async () => {
    const world = await running();
    world.put(example, { status: { ...settled, conditions: [failing] } });
    await world.clock.advance(65_000);
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    world.put(example, { status: { ...settled, conditions: [{ ...failing, status: 'False' }] } });
    await world.clock.advance(65_000);
    expect(world.withoutPass.get('EtcdCluster')).toBe(0);
    await world.stop();
  });

  test('are counted also where no status can be written', async () => {
    const world = await running();
    world.temporal.failing.add(nightly.uid);
    await world.clock.advance(65_000);
    expect(world.withoutPass.get('EtcdBackup')).toBe(1);
    world.temporal.failing.clear();
    await world.clock.advance(65_000);
    expect(world.withoutPass.get('EtcdBackup')).toBe(0);
    await world.stop();
  });

  test('are counted by no replica that watches no more', async () => {
    const world = await running();
    world.temporal.failing.add(example.uid);
    await world.clock.advance(65_000);
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    world.watcher.pause();
    expect(world.withoutPass.get('EtcdCluster')).toBe(0);
    await world.stop();
  });

  test('are followed by another pass when nothing waits any more and no one has taken the condition back', async () => {
    const world = await running();
    world.put(example, { status: { ...settled, conditions: [failing] } });
    const before = world.temporal.signals(example).length;
    await world.clock.advance(65_000);
    expect(world.temporal.signals(example).length).toBe(before + 1);
    await world.stop();
  });
});

describe('a pass that is due while no worker asks for tasks for two minutes', () => {
  test('is said by a condition, by Available, an event, the log and a metric', async () => {
    const world = await running();
    silence(world);
    edited(world);
    await world.clock.advance(90_000);
    expect(world.conditions(example)['PassFailing']).toBeUndefined();
    await world.clock.advance(65_000);
    expect(world.conditions(example)).toMatchObject({
      PassFailing: { status: 'True', reason: 'TasksNotCompleted', observedGeneration: 2 },
      Available: { status: 'Unknown', reason: 'NotLookedAt', observedGeneration: 2 },
      Healthy: healthy,
    });
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    expect(world.events).toEqual([expect.stringMatching(/^example TasksNotCompleted: Since 2026/)]);
    expect(world.logger.text()).toContain('no pass has succeeded');
    expect(world.conditions(quiet)).toEqual({ Available: available, Healthy: healthy });
    await world.clock.advance(3_600_000);
    expect(world.events).toHaveLength(1);
    const writes = world.kube.calls.filter(({ verb, name }) => verb === 'patch' && name === 'example');
    expect(writes).toHaveLength(1);
    world.temporal.pollersNow = undefined;
    const before = world.temporal.signals(example).length;
    await world.clock.advance(65_000);
    // The pass that follows takes the condition back.
    expect(world.temporal.signals(example).length).toBeGreaterThan(before);
    await world.stop();
  });

  test('is not said when only the question for the workers got no answer', async () => {
    const world = await running();
    await world.clock.advance(65_000);
    edited(world);
    world.temporal.failure = id => (id === 'pollers' ? grpcFailure(4) : undefined);
    await world.clock.advance(300_000);
    expect(world.conditions(example)['PassFailing']).toBeUndefined();
    expect(world.events).toEqual([]);
    await world.stop();
  });

  test('is still said when the workers cannot be asked for any more, or Temporal has forgotten them', async () => {
    const world = await running();
    silence(world);
    edited(world);
    await world.clock.advance(155_000);
    expect(world.events).toHaveLength(1);
    world.temporal.failure = id => (id === 'pollers' ? grpcFailure(4) : undefined);
    await world.clock.advance(300_000);
    world.temporal.up();
    world.temporal.pollersNow = [];
    await world.clock.advance(300_000);
    expect(world.conditions(example)['PassFailing']).toMatchObject({ status: 'True' });
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    expect(world.events).toHaveLength(1);
    await world.stop();
  });

  test('of a backup has no Available to say so', async () => {
    const world = await running();
    silence(world);
    edited(world, nightly);
    await world.clock.advance(155_000);
    expect(world.conditions(nightly)).toMatchObject({ PassFailing: { status: 'True' } });
    expect(Object.keys(world.conditions(nightly))).toEqual(['PassFailing']);
    expect(world.withoutPass.get('EtcdBackup')).toBe(1);
    await world.stop();
  });

  test('is said by event, metric and log where no status can be written', async () => {
    const world = await running();
    const restore = world.kube.intercept(call => {
      if (call.verb === 'patch') throw fault(403, 'Forbidden');
    });
    silence(world);
    edited(world);
    await world.clock.advance(155_000);
    expect(world.conditions(example)['PassFailing']).toBeUndefined();
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    expect(world.events).toHaveLength(1);
    restore();
    await world.clock.advance(125_000);
    expect(world.conditions(example)['PassFailing']).toMatchObject({ status: 'True' });
    expect(world.events).toHaveLength(1);
    await world.stop();
  });

  test('names the task queue at which it waits, where no one serves that any more', async () => {
    const world = await running();
    world.temporal.elsewhere.set(example.uid, 'etcd-operator-before');
    await world.clock.advance(155_000);
    expect(world.conditions(example)['PassFailing']).toMatchObject({
      status: 'True',
      reason: 'OtherTaskQueue',
      message: expect.stringMatching(/serves "etcd-operator".* TASK_QUEUE .* to "etcd-operator-before"\.$/),
    });
    await world.stop();
  });
});

describe('a list of workflows that fails', () => {
  test('of other task queues leaves what is known of this one, and what was known of them', async () => {
    const world = await running();
    world.temporal.elsewhere.set(quiet.uid, 'etcd-operator-before');
    await world.clock.advance(155_000);
    expect(world.conditions(quiet)['PassFailing']).toMatchObject({ reason: 'OtherTaskQueue' });
    world.temporal.failure = id => (id === 'elsewhere' ? grpcFailure(4) : undefined);
    world.temporal.problems.set(workflowId(example), ['category=WorkflowTaskFailed']);
    await world.clock.advance(155_000);
    expect(world.conditions(example)['WorkflowStuck']).toMatchObject({ status: 'True' });
    expect(world.events).toHaveLength(1);
    await world.stop();
  });

  test('twice in a row is logged, and every ten minutes has every resource looked at', async () => {
    const world = await running();
    await world.clock.advance(35_000);
    world.temporal.failure = id => (id === 'here' ? grpcFailure(4) : undefined);
    const before = world.temporal.signals(quiet).length;
    const text = 'the workflows that run could not be listed';
    await world.clock.advance(60_000);
    expect(world.logger.text()).not.toContain(text);
    await world.clock.advance(60_000);
    expect(world.logger.text()).toContain(text);
    await world.clock.advance(420_000);
    expect(world.temporal.signals(quiet)).toHaveLength(before);
    await world.clock.advance(60_000);
    expect(world.temporal.signals(quiet)).toHaveLength(before + 1);
    await world.clock.advance(540_000);
    expect(world.temporal.signals(quiet)).toHaveLength(before + 1);
    await world.clock.advance(60_000);
    expect(world.temporal.signals(quiet)).toHaveLength(before + 2);
    await world.stop();
  });
});

test('a restore that was deleted while nobody watched has its workflow look once more', async () => {
  const world = await running();
  const refused = refTo('EtcdRestore', 'refused');
  const [id, signals] = [workflowId(refused), [] as Changed[]];
  world.temporal.workflows.set(id, { uid: refused.uid, running: true, started: 1, signals });
  world.reflectors.syncedNow = false;
  await world.clock.advance(65_000);
  expect(signals).toEqual([]);
  world.reflectors.syncedNow = true;
  await world.clock.advance(300_000);
  expect(signals).toEqual([{}]);
  await world.stop();
});

test('a Temporal that cannot be asked for a minute leaves it open whether passes are made', async () => {
  const world = await running();
  world.temporal.down();
  await world.clock.advance(155_000);
  expect(world.conditions(example)).toMatchObject({
    TemporalUnavailable: { status: 'True' },
    PassFailing: { status: 'Unknown', reason: 'TemporalUnreachable' },
    Available: { status: 'Unknown' },
  });
  const before = world.temporal.signals(example).length;
  world.temporal.up();
  await world.clock.advance(30_000);
  // The pass that follows takes it back.
  expect(world.temporal.signals(example).length).toBeGreaterThan(before);
  await world.stop();
});

test('a workflow that takes no signals leaves what is known of the passes of others', async () => {
  const world = await running();
  world.temporal.failure = id => (id === workflowId(example) ? grpcFailure(4) : undefined);
  edited(world);
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
  silence(world);
  edited(world);
  await world.clock.advance(275_000);
  expect(others).toBe(1);
  expect(world.conditions(example)).toMatchObject({
    PassFailing: { status: 'True' },
    Available: { status: 'Unknown' },
    Healthy: healthy,
  });
  await world.stop();
});
