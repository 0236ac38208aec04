/** Pods whose labels, or whose owner, somebody takes away: they run, and nobody may take them for gone. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const MEMBERS = ['example-0', 'example-1', 'example-2'];
const VICTIM = 'example-1';
const STORAGES: readonly [what: string, storage: NonNullable<EtcdClusterSpec['storage']>][] = [
  ['in its pod', { emptyDir: {} }],
  ['on a claim', { volumeClaimTemplate: { spec: {} } }],
];

async function living(storage: NonNullable<EtcdClusterSpec['storage']>): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', storage } });
  await world.run();
  await world.run();
  return world;
}

const voters = (world: OperatorWorld) => world.etcd.clusters[0]?.rows.map(({ name }) => name);
const uidOf = (world: OperatorWorld) => world.kube.peek(world.pod(VICTIM))?.metadata.uid;

/** `kubectl label pod example-1 etcd_cluster-`. */
function strip(world: OperatorWorld, ...keys: readonly string[]): void {
  world.kube.mutate(world.pod(VICTIM), ({ metadata }) => {
    for (const key of keys) delete metadata.labels?.[key];
  });
}

describe.each(STORAGES)('a member that keeps its data %s', (_, storage) => {
  it('is there when its pod loses its labels, and gets them back', async () => {
    const world = await living(storage);
    const before = uidOf(world);
    strip(world, 'etcd_cluster', 'app');
    await world.run();
    await world.run();
    expect(voters(world)).toEqual(MEMBERS);
    expect(uidOf(world)).toBe(before);
    expect(world.kube.peek(world.pod(VICTIM))?.metadata.labels).toMatchObject({
      app: 'etcd',
      etcd_cluster: 'example',
      etcd_node: VICTIM,
    });
    expect(world.cluster.status.ready).toBe('3/3');
    expect(world.events.map(({ message }) => message)).toContain(
      `restored app, etcd_cluster on pod ${VICTIM}`,
    );
  });

  it('is there when its pod is called a pod of another cluster', async () => {
    const world = await living(storage);
    world.kube.mutate(world.pod(VICTIM), ({ metadata }) => {
      metadata.labels = { ...metadata.labels, etcd_cluster: 'other' };
    });
    await world.run();
    expect(voters(world)).toEqual(MEMBERS);
    expect(world.kube.peek(world.pod(VICTIM))?.metadata.labels?.['etcd_cluster']).toBe('example');
  });

  it('is not lost when its pod loses its owner, and status says what to do', async () => {
    const world = await living(storage);
    const before = uidOf(world);
    world.kube.mutate(world.pod(VICTIM), ({ metadata }) => void delete metadata.ownerReferences);
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'NameTaken' });
    expect(voters(world)).toEqual(MEMBERS);
    expect(uidOf(world)).toBe(before);
    const { conditions, members } = world.cluster.status;
    expect(conditions?.find(({ type }) => type === 'Progressing')?.message).toContain(
      `pod ${VICTIM} in namespace shop has the name of a member and is not owned by this EtcdCluster`,
    );
    expect(members?.details?.find(({ name }) => name === VICTIM)).toMatchObject({ health: 'Unknown' });
  });

  it('is deleted with its cluster without its labels, and the resource goes only after its pod', async () => {
    const world = await living(storage);
    strip(world, 'etcd_cluster');
    await world.deleteCluster();
    world.kubelet.asleep = true;
    await world.step();
    expect(world.kube.peek(world.pod(VICTIM))?.metadata.deletionTimestamp).toBeDefined();
    await world.look();
    expect(world.kube.peek(world.resource)).toBeDefined();
    world.kubelet.asleep = false;
    await world.run();
    expect(world.names('Pod')).toEqual([]);
    expect(world.kube.peek(world.resource)).toBeUndefined();
  });

  it('is seen when it was just added and lost its labels at once', async () => {
    const world = await living(storage);
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 4 } }, { type: 'merge' });
    const learner = 'example-3';
    while (world.kube.peek(world.pod(learner)) === undefined) await world.step();
    world.kube.mutate(world.pod(learner), ({ metadata }) => void delete metadata.labels?.['etcd_cluster']);
    await world.run();
    await world.run();
    expect(voters(world)).toEqual([...MEMBERS, learner]);
    expect(world.kube.peek(world.pod(learner))?.metadata.labels?.['etcd_cluster']).toBe('example');
  });
});
