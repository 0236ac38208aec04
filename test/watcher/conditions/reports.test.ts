import { describe, expect, test } from 'vitest';
import { API_VERSION, workflowId } from '../../../src/api/names.ts';
import { fault } from '../../fakes/kubernetes/kube.ts';
import { grpcFailure } from '../fakes.ts';
import { Harness } from '../harness.ts';
import { refTo } from '../objects.ts';

const example = refTo('EtcdCluster', 'example');
const quiet = refTo('EtcdCluster', 'quiet');
const available = {
  type: 'Available',
  status: 'True',
  reason: 'LinearizableRead',
  message: 'A linearizable read was answered.',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

/** A status as the operator writes it: as its own field manager, with its own conditions. */
async function operatorWrites(world: Harness, status: string): Promise<void> {
  const { kind, namespace, name } = example;
  await world.kube.apply(
    {
      apiVersion: API_VERSION,
      kind,
      metadata: { namespace, name },
      status: { phase: 'Running', conditions: [{ ...available, status }] },
    },
    { subresource: 'status' },
  );
  world.refresh(example);
}

async function running(): Promise<Harness> {
  const world = new Harness();
  await world.watcher.start();
  world.put(example);
  world.put(quiet);
  await operatorWrites(world, 'True');
  await world.clock.advance(10_000);
  return world;
}

describe('Temporal is away', () => {
  test('the resource says so after a few seconds, and says the opposite when it is back', async () => {
    const world = await running();
    world.temporal.down();
    world.put(example, { metadata: { generation: 2 }, status: world.stored(example)?.['status'] });
    await world.clock.advance(2_500);
    expect(world.conditions(example)['TemporalUnavailable']).toBeUndefined();
    await world.clock.advance(2_500);
    expect(world.conditions(example)['TemporalUnavailable']).toEqual({
      type: 'TemporalUnavailable',
      status: 'True',
      reason: 'Unreachable',
      message: expect.stringMatching(/^Since 2026-01-01T00:00:10Z .*UNAVAILABLE.*Bring Temporal back/s),
      lastTransitionTime: expect.stringMatching(/^2026-01-01T00:00:1\dZ$/),
      observedGeneration: 2,
    });
    expect(world.conditions(example)['Available']).toEqual(available);
    expect(world.conditions(quiet)).toEqual({});
    world.temporal.up();
    await world.clock.advance(8_000);
    expect(world.conditions(example)['TemporalUnavailable']).toMatchObject({
      status: 'False',
      reason: 'Reachable',
    });
    expect(world.conditions(example)['Available']).toEqual(available);
    await world.stop();
  });

  test('is not what a list of workflows shows that times out while Temporal answers other calls', async () => {
    const world = await running();
    const before = [example, quiet].map(ref => world.temporal.signals(ref).length);
    world.temporal.failure = id => (id === 'here' ? grpcFailure(4) : undefined);
    await world.clock.advance(180_000);
    expect(world.temporal.runningCalls).toBeGreaterThan(1);
    expect([example, quiet].map(ref => world.temporal.signals(ref).length)).toEqual(before);
    await world.stop();
  });

  test('resources that nothing happens to say so as well, within about a minute', async () => {
    const world = await running();
    world.temporal.down();
    await world.clock.advance(75_000);
    for (const ref of [example, quiet]) {
      expect(world.conditions(ref)['TemporalUnavailable']).toMatchObject({ status: 'True' });
    }
    world.temporal.up();
    await world.clock.advance(70_000);
    for (const ref of [example, quiet]) {
      expect(world.conditions(ref)['TemporalUnavailable']).toMatchObject({ status: 'False' });
    }
    await world.stop();
  });

  test('for an hour: one write of each condition, not one a second', async () => {
    const world = await running();
    world.temporal.down();
    world.put(example, { metadata: { generation: 2 } });
    const before = world.kube.calls.length;
    await world.clock.advance(3_600_000);
    const writes = world.kube.calls
      .slice(before)
      .filter(call => call.name === 'example' && call.verb !== 'get');
    expect(writes.map(({ verb, subresource, manager }) => ({ verb, subresource, manager }))).toEqual([
      { verb: 'patch', subresource: 'status', manager: 'etcd-operator-watcher' },
      { verb: 'patch', subresource: 'status', manager: 'etcd-operator-watcher' },
    ]);
    expect(world.conditions(example)).toMatchObject({
      TemporalUnavailable: { status: 'True' },
      PassFailing: { status: 'Unknown' },
    });
    // Nothing happened to the other one; it says so all the same.
    expect(world.conditions(quiet)['TemporalUnavailable']).toMatchObject({ status: 'True' });
    await world.stop();
  });

  test('the condition and the operator’s own do not fight', async () => {
    const world = await running();
    world.temporal.down();
    world.put(example, { metadata: { generation: 2 }, status: world.stored(example)?.['status'] });
    await world.clock.advance(5_000);
    await operatorWrites(world, 'False');
    await world.clock.advance(5_000);
    expect(world.conditions(example)).toMatchObject({
      Available: { status: 'False' },
      TemporalUnavailable: { status: 'True' },
    });
    world.temporal.up();
    await world.clock.advance(10_000);
    await operatorWrites(world, 'True');
    expect(world.conditions(example)).toMatchObject({
      Available: { status: 'True' },
      TemporalUnavailable: { status: 'False' },
    });
    await world.stop();
  });

  test('a condition that an earlier process left is cleared by the next', async () => {
    const world = await running();
    world.temporal.down();
    world.put(example, { metadata: { generation: 2 } });
    await world.clock.advance(5_000);
    await world.stop();
    expect(world.conditions(example)).toMatchObject({ TemporalUnavailable: { status: 'True' } });
    world.temporal.up();
    world.watcher = world.make();
    await world.watcher.start();
    world.refresh(example);
    await world.clock.advance(3_000);
    expect(world.conditions(example)).toMatchObject({ TemporalUnavailable: { status: 'False' } });
    await world.stop();
  });

  test('an apiserver that is away as well is tried again', async () => {
    const world = await running();
    world.temporal.down();
    const restore = world.kube.intercept(call => {
      if (call.verb === 'patch') throw fault(500, 'InternalError');
    });
    world.put(example, { metadata: { generation: 2 } });
    await world.clock.advance(10_000);
    expect(world.conditions(example)['TemporalUnavailable']).toBeUndefined();
    restore();
    await world.clock.advance(20_000);
    expect(world.conditions(example)).toMatchObject({ TemporalUnavailable: { status: 'True' } });
    expect(world.logger.text()).toContain('condition not written');
    await world.stop();
  });

  test('a resource that went meanwhile is left alone', async () => {
    const world = await running();
    world.temporal.down();
    const object = world.put(example, { metadata: { generation: 2 } });
    world.reflectors.remove(object);
    const writes = world.kube.calls.length;
    await world.clock.advance(60_000);
    expect(world.kube.calls.slice(writes).filter(call => call.name === 'example')).toEqual([]);
    await world.stop();
  });

  test('nothing of the error but its code is logged or written', async () => {
    const world = await running();
    world.temporal.down(16);
    world.put(example, { metadata: { generation: 2 } });
    await world.clock.advance(10_000);
    const said = world.logger.text() + JSON.stringify(world.stored(example));
    expect(said).toContain('UNAUTHENTICATED');
    expect(said).not.toMatch(/secret-token|10\.0\.0\.7/);
    await world.stop();
  });
});

describe('a stuck workflow', () => {
  const problems = ['category=WorkflowTaskFailed', 'cause=WorkflowTaskFailedCauseNonDeterministicError'];

  test('is said on its resource within a minute, and taken back when it goes on', async () => {
    const world = await running();
    world.temporal.problems.set(workflowId(example), problems);
    await world.clock.advance(60_000);
    expect(world.conditions(example)['WorkflowStuck']).toMatchObject({
      status: 'True',
      message: expect.stringMatching(
        /etcdcluster\/default\/example\/.*NonDeterministic.*terminate the workflow/s,
      ),
    });
    expect(world.conditions(example)['Available']).toEqual(available);
    expect(world.conditions(quiet)).toEqual({});
    world.temporal.problems.clear();
    await world.clock.advance(61_000);
    expect(world.conditions(example)['WorkflowStuck']).toMatchObject({ status: 'False' });
    await world.stop();
  });

  test('may be the operation of a cluster', async () => {
    const world = await running();
    world.temporal.problems.set(`${workflowId(example)}/operation`, problems);
    await world.clock.advance(60_000);
    expect(world.conditions(example)['WorkflowStuck']).toMatchObject({ status: 'True' });
    await world.stop();
  });

  test('and an unreachable Temporal are two conditions that live beside each other', async () => {
    const world = await running();
    world.temporal.problems.set(workflowId(example), problems);
    await world.clock.advance(60_000);
    world.temporal.down();
    world.put(example, { metadata: { generation: 2 }, status: world.stored(example)?.['status'] });
    await world.clock.advance(70_000);
    expect(world.conditions(example)).toMatchObject({
      WorkflowStuck: { status: 'True' },
      TemporalUnavailable: { status: 'True' },
    });
    world.temporal.up();
    await world.clock.advance(10_000);
    expect(world.conditions(example)).toMatchObject({
      WorkflowStuck: { status: 'True' },
      TemporalUnavailable: { status: 'False' },
    });
    await world.stop();
  });
});
