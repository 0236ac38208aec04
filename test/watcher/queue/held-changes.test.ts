/** An operation changes its members itself: what becomes of them is told when it has ended, unless the status says it. */
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/kube/port.ts';
import { Harness } from '../harness.ts';
import { owned, refTo } from '../objects.ts';

const example = refTo('EtcdCluster', 'example');

describe('while an operation is under way', () => {
  const NAMES = ['example-0', 'example-1', 'example-2'];
  const pod = (name: string, ready: boolean, more: Record<string, unknown> = {}) =>
    owned('Pod', name, example, {
      ...more,
      status: {
        podIP: `10.0.0.${name.at(-1)}`,
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      },
    });
  const claim = (name: string) => owned('PersistentVolumeClaim', name, example);
  const another = pod('example-7', false);
  const foreign = { ...another, metadata: { ...another.metadata, ownerReferences: [] } };
  const operation = { type: 'createCluster', step: 'wait', startedAt: '2026-01-01T00:00:00Z' };
  const settled = (health = 'Healthy') => ({
    observedGeneration: 1,
    conditions: [{ type: 'Available', status: 'True' }],
    members: { details: NAMES.map((name, index) => ({ name, id: `a${index}`, health })) },
  });

  /** Its members have been made, of which the workflow was told, and nobody has heard of them since. */
  async function operated(status: Record<string, unknown> = { operation }) {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    for (const name of NAMES) world.reflectors.put(pod(name, false));
    for (const name of NAMES) world.reflectors.put(claim(name));
    await world.clock.advance(4_000);
    world.put(example, { status });
    const before = world.temporal.signals(example).length;
    return { world, told: () => world.temporal.signals(example).length - before };
  }
  const allReady = (world: Harness, stamps?: Record<string, string>) => {
    for (const name of NAMES)
      world.reflectors.put(stamps ? stamped(pod(name, true), stamps) : pod(name, true));
  };

  test('pods that become ready, and a Service that is made, wake nobody when the status says the same in the end', async () => {
    const { world, told } = await operated();
    allReady(world);
    world.reflectors.put(owned('Service', 'example-client', example));
    await world.clock.advance(3_000);
    world.put(example, { status: settled() });
    await world.clock.advance(30_000);
    expect(told()).toBe(0);
    await world.stop();
  });

  const STAMPS = { 'etcd.database.coreos.com/cluster-id': 'c0ffee' };
  const stamped = (object: KubeObject, stamps: Record<string, string> = STAMPS): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, annotations: stamps },
  });
  /** As recordClusterId writes them, before the status says the id. */
  const stampAll = (world: Harness) => {
    for (const name of NAMES) world.reflectors.put(stamped(pod(name, false)));
    for (const name of NAMES) world.reflectors.put(stamped(claim(name)));
    world.put(example, { metadata: { annotations: STAMPS }, status: { operation } });
  };

  test('the stamps that it puts on pods, claims and the cluster wake nobody when the status says the same in the end', async () => {
    const { world, told } = await operated();
    stampAll(world);
    allReady(world, STAMPS);
    await world.clock.advance(3_000);
    world.put(example, { metadata: { annotations: STAMPS }, status: settled() });
    await world.clock.advance(30_000);
    expect(told()).toBe(0);
    await world.stop();
  });

  test('stamps are told after ten seconds, for somebody else may have put them on', async () => {
    const { world, told } = await operated();
    stampAll(world);
    await world.clock.advance(9_000);
    expect(told()).toBe(0);
    await world.clock.advance(6_000);
    expect(told()).toBeGreaterThan(0);
    await world.stop();
  });

  test('stamps that are put on while nothing is under way are told at once', async () => {
    const { world, told } = await operated(settled());
    world.reflectors.put(stamped(pod('example-1', true)));
    await world.clock.advance(3_000);
    expect(told()).toBeGreaterThan(0);
    await world.stop();
  });

  test.each<[string, (world: Harness) => unknown]>([
    ['taken from a pod', world => world.reflectors.put(pod('example-1', false))],
    [
      'altered on a claim',
      world => world.reflectors.put(stamped(claim('example-1'), { [Object.keys(STAMPS)[0] ?? '']: 'beef' })),
    ],
    ['taken from the cluster', world => world.put(example, { status: { operation } })],
  ])('a stamp that is %s is told at once', async (_, change) => {
    const { world, told } = await operated();
    stampAll(world);
    // What is held is told by then, and the stamps count as known.
    await world.clock.advance(20_000);
    const before = told();
    change(world);
    await world.clock.advance(3_000);
    expect(told()).toBe(before + 1);
    await world.stop();
  });

  test.each<[string, string, (world: Harness) => unknown]>([
    ['a pod is not ready', 'Healthy', world => world.reflectors.put(pod('example-1', false))],
    [
      'there is another pod',
      'Healthy',
      world => [false, true].map(ready => world.reflectors.put(pod('example-7', ready))),
    ],
    ['a member is not well', 'Healthy', world => void world.sayings.set('10.0.0.1', 'refused')],
    ['the status says of a member that it is not well', 'Unknown', () => {}],
  ])('it is told at its end when %s', async (_, health, change) => {
    const { world, told } = await operated();
    allReady(world);
    change(world);
    await world.clock.advance(3_000);
    const before = told();
    world.put(example, { status: settled(health) });
    await world.clock.advance(3_000);
    expect(told()).toBeGreaterThan(before);
    await world.stop();
  });

  test.each<[string, (world: Harness) => void]>([
    [
      'a new specification',
      world => void world.put(example, { metadata: { generation: 2 }, status: { operation } }),
    ],
    ['a deleted pod', world => world.reflectors.remove(pod('example-1', true))],
    [
      'an annotation of a pod',
      world => {
        const edited = pod('example-1', false);
        world.reflectors.put({ ...edited, metadata: { ...edited.metadata, annotations: { a: 'b' } } });
      },
    ],
    ['a claim', world => world.reflectors.put(claim('example-7'))],
    ['a pod that the cluster does not own', world => world.reflectors.put(foreign)],
  ])('%s is told at once', async (_, change) => {
    const { world, told } = await operated();
    change(world);
    await world.clock.advance(3_000);
    expect(told()).toBe(1);
    await world.stop();
  });

  test('everything is told at once when it waits for something', async () => {
    const { world, told } = await operated({ operation: { ...operation, message: 'no node has room' } });
    world.reflectors.put(pod('example-1', true));
    await world.clock.advance(3_000);
    expect(told()).toBe(1);
    await world.stop();
  });

  test('a member that falls ill is told of after ten seconds, for the operation may have come to nothing', async () => {
    const { world, told } = await operated();
    world.sayings.set('10.0.0.1', 'refused');
    await world.clock.advance(9_000);
    expect(told()).toBe(0);
    await world.clock.advance(6_000);
    expect(told()).toBeGreaterThan(0);
    await world.stop();
  });
});
