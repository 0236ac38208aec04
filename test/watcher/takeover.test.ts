/** Who is told by a watcher that begins where another one has ended. */
import { describe, expect, test } from 'vitest';
import { FINALIZER, type ResourceRef } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Positions } from '../../src/watcher/queue/told-through.ts';
import { Harness } from './harness.ts';
import { IDLE, owned, refTo, resource, secret } from './objects.ts';

const refs = Array.from({ length: 20 }, (_, index) => refTo('EtcdCluster', `c${index}`));
const [first] = refs as [ResourceRef, ...ResourceRef[]];
const nightly = refTo('EtcdBackup', 'nightly');
const SECURED = { TLS: { static: { operatorSecret: 'client' } } };
const STATUS = { ...IDLE, storage: { kind: 'PersistentVolumeClaim' } };

/** A settled cluster of three with all that belongs to it. */
function settled(ref: ResourceRef): KubeObject[] {
  const cluster = resource(ref, {
    metadata: { finalizers: [FINALIZER] },
    spec: ref === first ? SECURED : {},
    status: STATUS,
  });
  const members = [0, 1, 2].map(member => `${ref.name}-${member}`);
  return [
    cluster,
    owned('Service', ref.name, ref),
    owned('Service', `${ref.name}-client`, ref),
    owned('PodDisruptionBudget', ref.name, ref),
    ...members.map(name => owned('Pod', name, ref)),
    ...members.map(name => owned('PersistentVolumeClaim', name, ref)),
  ];
}

/** What is stored when the first watcher ends, and up to where it has told it. */
async function afterOneWatcher(world: Harness): Promise<{ objects: KubeObject[]; told: Positions }> {
  const backup = resource(nightly, { spec: { clusterRef: { name: first.name } }, status: IDLE });
  const objects = [secret('client'), backup, ...refs.flatMap(settled)];
  await world.watcher.start();
  for (const object of objects) world.reflectors.put(object);
  await world.clock.advance(20_000);
  const told = world.watcher.told();
  if (told === undefined) throw new Error('nothing is said to have been told');
  await world.stop();
  return { objects, told };
}

/** The names of those who are told by the next watcher, which finds these objects. */
async function toldNext(
  world: Harness,
  { objects, told }: { objects: readonly KubeObject[]; told: Positions | undefined },
  { unlisted, listedAfterMs = 1_000 }: { unlisted?: string; listedAfterMs?: number } = {},
): Promise<string[]> {
  const all = [...refs, nightly];
  const before = new Map(all.map(ref => [ref, world.temporal.signals(ref).length]));
  const next = world.make({}, told);
  world.reflectors.syncedNow = false;
  world.reflectors.unlisted = unlisted;
  await next.start();
  // As lists of kinds come: those that others refer to not always first.
  for (const object of objects.toReversed()) if (object.kind !== unlisted) world.reflectors.put(object);
  await world.clock.advance(listedAfterMs);
  world.reflectors.syncedNow = true;
  await world.clock.advance(90_000);
  const stopped = next.stop();
  await world.clock.advance(3_000);
  await stopped;
  return all
    .filter(ref => world.temporal.signals(ref).length > (before.get(ref) ?? 0))
    .map(({ name }) => name);
}

/** The objects, one of them changed: with a new version. */
function changed(
  objects: readonly KubeObject[],
  { kind, name }: { kind: string; name: string },
  by: object,
): KubeObject[] {
  const { resourceVersion } = resource(first).metadata;
  const found = objects.filter(object => object.kind === kind && object.metadata.name === name);
  expect(found).toHaveLength(1);
  return objects.map(object =>
    found.includes(object)
      ? { ...object, ...by, metadata: { ...object.metadata, resourceVersion: resourceVersion ?? '' } }
      : object,
  );
}

const without = (objects: readonly KubeObject[], kind: string, name: string) =>
  objects.filter(object => object.kind !== kind || object.metadata.name !== name);

describe('a watcher that knows up to where everything was told', () => {
  test('tells nobody when nothing has changed since', async () => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    expect(await toldNext(world, { objects, told })).toEqual([]);
    expect(world.temporal.signals(first).length).toBeGreaterThan(0);
  });

  test.each<[string, (objects: readonly KubeObject[]) => readonly KubeObject[], string[]]>([
    ['a specification', objects => changed(objects, { kind: 'EtcdCluster', name: 'c7' }, {}), ['c7']],
    ['a pod', objects => changed(objects, { kind: 'Pod', name: 'c7-1' }, {}), ['c7']],
    ['a Service', objects => changed(objects, { kind: 'Service', name: 'c7-client' }, {}), ['c7']],
    [
      'a Secret that a cluster refers to',
      objects => changed(objects, { kind: 'Secret', name: 'client' }, {}),
      ['c0'],
    ],
    [
      'an EtcdBackup',
      objects => changed(objects, { kind: 'EtcdBackup', name: 'nightly' }, {}),
      ['c0', 'nightly'],
    ],
  ])('tells whom %s concerns that has changed since, and nobody else', async (_, change, expected) => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    expect(await toldNext(world, { objects: change(objects), told })).toEqual(expected);
  });

  test('tells nobody else when the lists of a busy API server take long', async () => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    const edited = changed(objects, { kind: 'EtcdCluster', name: 'c7' }, {});
    expect(await toldNext(world, { objects: edited, told }, { listedAfterMs: 50_000 })).toEqual(['c7']);
  });

  test.each<[string, string, string, string]>([
    ['a pod', 'Pod', 'c7-1', 'c7'],
    ['a claim', 'PersistentVolumeClaim', 'c7-1', 'c7'],
    ['a Service', 'Service', 'c7', 'c7'],
    ['a budget', 'PodDisruptionBudget', 'c7', 'c7'],
    ['a Secret', 'Secret', 'client', 'c0'],
  ])('tells whose %s was deleted meanwhile', async (_, kind, name, whose) => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    expect(await toldNext(world, { objects: without(objects, kind, name), told })).toEqual([whose]);
  });

  test('tells of what was made meanwhile', async () => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    const restore = resource(refTo('EtcdRestore', 'back'), { spec: { etcdCluster: { name: 'c3' } } });
    expect(await toldNext(world, { objects: [...objects, restore], told })).toEqual(['c3']);
  });

  test('tells those that have something to do, whatever has changed', async () => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    const busy = objects.map(object =>
      object.kind === 'EtcdCluster' && object.metadata.name === 'c5'
        ? { ...object, status: { ...STATUS, operation: { type: 'scaleCluster' } } }
        : object,
    );
    expect(await toldNext(world, { objects: busy, told })).toEqual(['c5']);
  });

  test.each<[string, (told: Positions) => Positions | undefined]>([
    ['nobody has left a word', () => undefined],
    ['the storage of the API server went back', told => ({ ...told, Service: '99999999' })],
    ['a kind was not watched before', told => ({ EtcdCluster: told['EtcdCluster'] ?? '' })],
    ['its versions are no numbers', told => ({ ...told, EtcdCluster: 'a1b2' })],
  ])('tells everybody when %s', async (_, change) => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    const found = await toldNext(world, { objects, told: change(told) });
    expect(found).toEqual(expect.arrayContaining(refs.map(({ name }) => name)));
  });

  test.each<[string, Positions | undefined, number]>([
    ['once when it is known that nobody was told', {}, 1],
    ['and once more later when nobody knows, since another release may have looked', undefined, 2],
  ])('tells everybody %s', async (_, told, times) => {
    const world = new Harness();
    const { objects } = await afterOneWatcher(world);
    const before = world.temporal.signals(first).length;
    const next = world.make({ againAfterMs: 60_000 }, told);
    world.reflectors.syncedNow = false;
    await next.start();
    for (const object of objects) world.reflectors.put(object);
    world.reflectors.syncedNow = true;
    await world.clock.advance(120_000);
    expect(world.temporal.signals(first).length).toBe(before + times);
    const stopped = next.stop();
    await world.clock.advance(3_000);
    await stopped;
  });

  test('tells everybody when a kind cannot be listed', async () => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    const found = await toldNext(world, { objects, told }, { unlisted: 'Secret' });
    expect(found).toEqual([...refs.map(({ name }) => name), 'nightly']);
  });

  test('tells what happens before all lists are there at once', async () => {
    const world = new Harness();
    const { objects, told } = await afterOneWatcher(world);
    const next = world.make({}, told);
    await next.start();
    world.reflectors.unlisted = 'Secret';
    const before = world.temporal.signals(first).length;
    for (const object of objects) if (object.kind !== 'Secret') world.reflectors.put(object);
    await world.clock.advance(20);
    expect(world.temporal.signals(first).length).toBe(before + 1);
    const stopped = next.stop();
    await world.clock.advance(3_000);
    await stopped;
  });
});

describe('up to where everything was told', () => {
  test('is not known before what the first lists found has been told', async () => {
    const world = new Harness();
    world.reflectors.syncedNow = false;
    await world.watcher.start();
    for (const ref of refs) world.put(ref, { status: IDLE });
    expect(world.watcher.told()).toBeUndefined();
    world.reflectors.syncedNow = true;
    await world.clock.advance(500);
    expect(world.watcher.told()).toBeUndefined();
    await world.clock.advance(5_000);
    expect(world.watcher.told()).toMatchObject({ EtcdCluster: String(world.reflectors.position) });
    await world.stop();
  });

  test('is before what could not be told yet', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(first, { status: IDLE });
    await world.clock.advance(1_000);
    const told = world.watcher.told();
    world.temporal.down();
    world.put(first, { metadata: { generation: 2 }, status: IDLE });
    for (let ask = 0; ask < 5; ask += 1) {
      await world.clock.advance(5_000);
      expect(world.watcher.told()).toEqual(told);
    }
    world.temporal.up();
    await world.clock.advance(10_000);
    expect(Number(world.watcher.told()?.['EtcdCluster'])).toBeGreaterThan(Number(told?.['EtcdCluster']));
    await world.stop();
  });

  test('is before what is held while an operation is under way', async () => {
    const world = new Harness();
    await world.watcher.start();
    const operated = { ...IDLE, operation: { type: 'scaleCluster' } };
    world.put(first, { status: operated });
    await world.clock.advance(1_000);
    const told = world.watcher.told();
    expect(told).toBeDefined();
    world.reflectors.put(owned('Pod', `${first.name}-0`, first));
    await world.clock.advance(1_000);
    expect(world.watcher.told()).toEqual(told);
    await world.clock.advance(20_000);
    expect(world.watcher.told()).not.toEqual(told);
    await world.stop();
  });

  test('follows although something always waits', async () => {
    const world = new Harness();
    world.temporal.latencyMs = 900;
    await world.watcher.start();
    for (const ref of refs) world.put(ref, { status: IDLE });
    await world.clock.advance(10_000);
    let behind = Number.POSITIVE_INFINITY;
    for (let event = 0; event < 100; event += 1) {
      const ref = refs[event % refs.length] ?? first;
      world.put(ref, { metadata: { generation: event + 2 }, status: IDLE });
      await world.clock.advance(500);
      expect(world.watcher.stats().waiting).toBeGreaterThan(0);
      if (event % 11 !== 0) continue;
      behind = world.reflectors.position - Number(world.watcher.told()?.['EtcdCluster']);
    }
    expect(behind).toBeLessThan(30);
    await world.stop();
  });
});
