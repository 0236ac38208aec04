/** Deletions of a whole cluster in a world of its own: what stays, and what it says of itself. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_LEFT_BY } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 60_000 };
const SPEC = { size: 3, version: '3.6.16' };
const KINDS = ['Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'];

async function living(spec: object = {}): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { ...SPEC, ...spec } });
  await world.run();
  await world.run();
  return world;
}

const orphan = (world: OperatorWorld) =>
  world.kube.as('kubectl').delete(world.resource, { propagation: 'Orphan' });
const objects = (world: OperatorWorld): KubeObject[] => KINDS.flatMap(kind => world.kube.all(kind));
const alive = (world: OperatorWorld) =>
  objects(world)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`);
const reasons = (world: OperatorWorld) => world.events.map(({ reason }) => reason);

function expectLeft(world: OperatorWorld, before: readonly string[]): void {
  expect(world.kube.peek(world.resource)).toBeUndefined();
  expect(alive(world)).toEqual(before);
  expect(objects(world).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
  const members = objects(world).filter(({ kind }) => kind === 'Pod' || kind === 'PersistentVolumeClaim');
  for (const { metadata } of members) expect(metadata.annotations?.[ANNOTATION_LEFT_BY]).toContain('take-up');
  expect(reasons(world)).toContain('ObjectsLeft');
}

describe('an EtcdCluster that is deleted with --cascade=orphan', LONG, () => {
  it('leaves pods, claims and Services, when the operator comes before the garbage collector', async () => {
    const world = await living();
    const before = alive(world);
    await orphan(world);
    await world.run();
    expect(alive(world)).toEqual(before);
    world.kube.orphanDependents(world.resource);
    expectLeft(world, before);
  });

  it('leaves them when the garbage collector had finished while the operator was down', async () => {
    const world = await living();
    const before = alive(world);
    await orphan(world);
    world.kube.orphanDependents(world.resource);
    await world.run();
    expectLeft(world, before);
  });

  it('leaves the claims of a cluster that is hibernated', async () => {
    const world = await living();
    world.kube.mutate(world.resource, object => void (object['spec'] = { ...SPEC, hibernated: true }));
    await world.run();
    await world.run();
    expect(world.names('Pod')).toEqual([]);
    const before = alive(world);
    await orphan(world);
    world.kube.orphanDependents(world.resource);
    await world.run();
    expectLeft(world, before);
  });

  it('leaves what is left when it was being deleted already', async () => {
    const world = await living();
    await world.deleteCluster();
    const step = await world.runUntil('deletePods');
    await orphan(world);
    await expect(world.perform(step)).rejects.toThrow('--cascade=orphan');
    const before = alive(world);
    await world.run();
    world.kube.orphanDependents(world.resource);
    expectLeft(world, before);
  });

  it('can be killed at any call of it', async () => {
    for (let at = 1; at <= 12; at += 1) {
      const world = await living();
      const before = alive(world);
      await orphan(world);
      world.kill({ at: world.calls + at });
      await world.runUntilKilled();
      if (at % 2 === 0) world.kube.orphanDependents(world.resource);
      world.reboot();
      await world.run();
      if (at % 2 === 1) world.kube.orphanDependents(world.resource);
      expectLeft(world, before);
    }
  });
});

describe('an EtcdCluster that is deleted with storage.retain: Retain', LONG, () => {
  it('leaves claims that say whose they were, and nothing else', async () => {
    const world = await living({ storage: { retain: 'Retain' } });
    const claims = world.names('PersistentVolumeClaim');
    await world.deleteCluster();
    await world.run();
    expect(objects(world).map(({ metadata }) => metadata.name)).toEqual(claims);
    for (const { metadata } of objects(world))
      expect(metadata.annotations?.[ANNOTATION_LEFT_BY]).toContain(world.ref.uid);
    expect(reasons(world)).toContain('ObjectsLeft');
  });
});
