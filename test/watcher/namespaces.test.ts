/** A watcher of namespaces that are named, some of which cannot be listed. */
import { describe, expect, test } from 'vitest';
import { type ResourceRef, workflowId } from '../../src/api/names.ts';
import type { Positions } from '../../src/watcher/queue/told-through.ts';
import type { Watcher } from '../../src/watcher/watcher.ts';
import { Harness } from './harness.ts';
import { IDLE, refTo, resource } from './objects.ts';

const inNamespace = (namespace: string): ResourceRef => ({
  ...refTo('EtcdCluster', `of-${namespace}`),
  namespace,
});
const [shop, web, later] = ['shop', 'web', 'later'].map(inNamespace) as [
  ResourceRef,
  ResourceRef,
  ResourceRef,
];
const NAMED = ['shop', 'web', 'later'];

interface World {
  readonly world: Harness;
  readonly watcher: Watcher;
  readonly told: (ref: ResourceRef) => number;
}

/** A watcher that has begun; in these namespaces nothing may be listed. */
async function begun(forbidden: readonly string[], told?: Positions): Promise<World> {
  const world = new Harness();
  const watcher = world.make({}, told, NAMED);
  for (const namespace of forbidden) world.reflectors.forbidden.add(namespace);
  world.reflectors.syncedNow = told === undefined;
  await watcher.start();
  return { world, watcher, told: ref => world.temporal.signals(ref).length };
}

async function stop({ world, watcher }: World): Promise<void> {
  const stopped = watcher.stop();
  await world.clock.advance(10_000);
  await stopped;
}

describe('namespaces that are named', () => {
  test('are watched each, and their resources are told', async () => {
    const around = await begun([]);
    const { world, watcher, told } = around;
    for (const ref of [shop, web, later]) world.reflectors.put(resource(ref, { status: IDLE }));
    await world.clock.advance(1_000);
    expect([shop, web, later].map(told)).toEqual([1, 1, 1]);
    expect(watcher.synced()).toBe(true);
    expect(watcher.stats().unwatchedNamespaces).toBe(0);
    await stop(around);
  });

  test('that cannot be listed are reported and do not hold up the others', async () => {
    const around = await begun(['later']);
    const { world, watcher, told } = around;
    for (const ref of [shop, web]) world.reflectors.put(resource(ref, { status: IDLE }));
    await world.clock.advance(2_000);
    expect([shop, web].map(told)).toEqual([1, 1]);
    expect(watcher.synced()).toBe(true);
    expect(watcher.stats().unwatchedNamespaces).toBe(1);
    const reports = () => world.logger.lines.filter(({ message }) => message.includes('is not watched'));
    expect(reports()).toMatchObject([{ fields: { watchedNamespace: 'later' } }]);
    expect(reports()[0]?.message).toContain('create it, or grant the Role');
    await world.clock.advance(60_000);
    expect(reports()).toHaveLength(1);
    await stop(around);
  });

  test('of which some kinds cannot be listed are reported with those, again when they change', async () => {
    const around = await begun(['later/Secret', 'later/Service']);
    const { world } = around;
    const reported = () =>
      world.logger.lines
        .filter(({ message }) => message.includes('is not watched'))
        .map(({ fields }) => fields);
    await world.clock.advance(10_000);
    expect(reported()).toEqual([{ watchedNamespace: 'later', refusedKinds: ['Secret', 'Service'] }]);
    world.reflectors.forbidden.delete('later/Service');
    await world.clock.advance(10_000);
    expect(reported().slice(1)).toEqual([{ watchedNamespace: 'later', refusedKinds: ['Secret'] }]);
    expect(world.logger.text()).not.toContain('a namespace is watched now');
    world.reflectors.forbidden.clear();
    await world.clock.advance(10_000);
    expect(world.logger.text()).toContain('a namespace is watched now');
    expect(reported()).toHaveLength(2);
    await stop(around);
  });

  test('are watched as soon as they can be listed, and what is found there is told', async () => {
    const around = await begun(['later']);
    const { world, watcher, told } = around;
    world.reflectors.put(resource(shop, { status: IDLE }));
    await world.clock.advance(5_000);
    world.reflectors.put(resource(later, { status: IDLE }));
    world.reflectors.forbidden.clear();
    await world.clock.advance(5_000);
    expect(told(later)).toBe(1);
    expect(watcher.stats().unwatchedNamespaces).toBe(0);
    expect(world.logger.text()).toContain('a namespace is watched now');
    world.reflectors.put(resource(later, { metadata: { generation: 2 }, status: IDLE }));
    await world.clock.advance(5_000);
    expect(told(later)).toBe(2);
    await stop(around);
  });

  test('none of which can be listed are not said to be watched', async () => {
    const around = await begun(NAMED);
    await around.world.clock.advance(20_000);
    expect(around.watcher.synced()).toBe(false);
    expect(around.watcher.stats().unwatchedNamespaces).toBe(3);
    await stop(around);
  });

  test('one of which answers late are waited for', async () => {
    const around = await begun(['later']);
    around.world.reflectors.syncedNow = false;
    await around.world.clock.advance(5_000);
    expect(around.watcher.synced()).toBe(false);
    around.world.reflectors.syncedNow = true;
    expect(around.watcher.synced()).toBe(true);
    await stop(around);
  });
});

describe('up to where everything was told', () => {
  test('is not said while a namespace cannot be listed: the next one tells all of it', async () => {
    const around = await begun(['later']);
    const { world, watcher } = around;
    world.reflectors.put(resource(shop, { status: IDLE }));
    await world.clock.advance(10_000);
    expect(watcher.told()).toBeUndefined();
    world.reflectors.put(resource(later, { status: IDLE }));
    world.reflectors.forbidden.clear();
    await world.clock.advance(10_000);
    expect(watcher.told()).toMatchObject({ EtcdCluster: String(world.reflectors.position) });
    await stop(around);
  });

  test('is that of the namespace that is behind', async () => {
    const around = await begun([]);
    const { world, watcher } = around;
    world.reflectors.put(resource(web, { status: IDLE }));
    const { position } = world.reflectors;
    world.reflectors.positions.set('web', position);
    world.reflectors.put(resource(shop, { status: IDLE }));
    await world.clock.advance(10_000);
    expect(world.reflectors.position).toBeGreaterThan(position);
    expect(watcher.told()).toMatchObject({ EtcdCluster: String(position), Secret: String(position) });
    await stop(around);
  });

  test('lets the next one tell only what changed where it can list, and all where it could not', async () => {
    const before = resource(shop, { status: IDLE });
    const unchanged = resource(later, { status: IDLE });
    const word = Object.fromEntries(
      ['EtcdCluster', 'EtcdBackup', 'EtcdRestore', 'Pod', 'PersistentVolumeClaim', 'Service', 'Secret']
        .concat('PodDisruptionBudget')
        .map(kind => [kind, unchanged.metadata.resourceVersion ?? '']),
    );
    const backup = { ...refTo('EtcdBackup', 'nightly'), namespace: 'shop' };
    const kept = { ...refTo('EtcdBackup', 'kept'), namespace: 'web' };
    const old = (ref: ResourceRef) =>
      resource(ref, { status: IDLE, metadata: { resourceVersion: before.metadata.resourceVersion } });
    const around = await begun(['later'], word);
    const { world, told } = around;
    const found = { ...refTo('EtcdBackup', 'found'), namespace: 'later' };
    for (const ref of [backup, kept, found])
      world.temporal.workflows.set(workflowId(ref), { running: true, started: 1, signals: [] });
    world.reflectors.put(old(kept));
    world.reflectors.put(resource(backup, { status: IDLE }));
    await world.clock.advance(1_000);
    world.reflectors.syncedNow = true;
    await world.clock.advance(2_000);
    expect([backup, kept].map(told)).toEqual([1, 0]);
    world.reflectors.put(old(found));
    world.reflectors.forbidden.clear();
    await world.clock.advance(2_000);
    expect([backup, kept, found].map(told)).toEqual([1, 0, 1]);
    await stop(around);
  });
});
