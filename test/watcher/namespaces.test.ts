/** A watcher of namespaces that are named, some of which cannot be listed. */
import { describe, expect, test } from 'vitest';
import type { ResourceRef } from '../../src/api/names.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
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
  readonly signals: (ref: ResourceRef) => number;
}

/** A watcher that has begun; in these namespaces nothing may be listed. */
async function begun(forbidden: readonly string[]): Promise<World> {
  const world = new Harness();
  const watcher = world.make({}, NAMED);
  for (const namespace of forbidden) world.reflectors.forbidden.add(namespace);
  await watcher.start();
  return { world, watcher, signals: ref => world.temporal.signals(ref).length };
}

async function stop({ world, watcher }: World): Promise<void> {
  const stopped = watcher.stop();
  await world.clock.advance(10_000);
  await stopped;
}

describe('namespaces that are named', () => {
  test('are watched each, and their resources are enqueued', async () => {
    const around = await begun([]);
    const { world, watcher, signals } = around;
    for (const ref of [shop, web, later]) world.reflectors.put(resource(ref, { status: IDLE }));
    await world.clock.advance(1_000);
    expect([shop, web, later].map(signals)).toEqual([1, 1, 1]);
    expect(watcher.synced()).toBe(true);
    expect(watcher.stats().unwatchedNamespaces).toBe(0);
    await stop(around);
  });

  test('that cannot be listed are reported and do not hold up the others', async () => {
    const around = await begun(['later']);
    const { world, watcher, signals } = around;
    for (const ref of [shop, web]) world.reflectors.put(resource(ref, { status: IDLE }));
    await world.clock.advance(2_000);
    expect([shop, web].map(signals)).toEqual([1, 1]);
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

  test('are watched as soon as they can be listed, and what is found there is enqueued', async () => {
    const around = await begun(['later']);
    const { world, watcher, signals } = around;
    world.reflectors.put(resource(shop, { status: IDLE }));
    await world.clock.advance(5_000);
    world.reflectors.put(resource(later, { status: IDLE }));
    world.reflectors.forbidden.clear();
    await world.clock.advance(5_000);
    expect(signals(later)).toBe(1);
    expect(watcher.stats().unwatchedNamespaces).toBe(0);
    expect(world.logger.text()).toContain('a namespace is watched now');
    world.reflectors.put(resource(later, { metadata: { generation: 2 }, status: IDLE }));
    await world.clock.advance(5_000);
    expect(signals(later)).toBe(2);
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
