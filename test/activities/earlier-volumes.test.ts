/**
 * Volumes that come with the log of an earlier cluster of this name: an NFS provisioner that names folders after claims and keeps
 * them, a local volume that nobody wiped. etcd goes by its log, whatever its flags say.
 */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_KEPT_UNTIL } from '../../src/api/names.ts';
import { condition } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

/** A world in which these claims are given volumes on which a cluster of the same name ran before. */
function worldOnVolumesOf(earlier: readonly string[], { alone = false } = {}) {
  const world = new OperatorWorld();
  const members = alone ? earlier : ['example-0', 'example-1', 'example-2'];
  const initial = members.map(name => `${name}=http://${name}.example.shop.svc:2380`);
  const filled = new Set<string>();
  const fill = () => {
    for (const { metadata } of world.kube.all('PersistentVolumeClaim')) {
      const { name, uid = '' } = metadata;
      if (!earlier.includes(name) || filled.has(name)) continue;
      filled.add(name);
      const args = [
        `--name=${name}`,
        `--initial-cluster=${initial.join(',')}`,
        '--initial-cluster-state=new',
        '--initial-cluster-token=example-0badc0de-1',
      ];
      world.etcd.start({ host: `before-${name}`, args, disk: uid, version: '3.6.16' });
      world.etcd.stop(`before-${name}`);
    }
  };
  world.kube.intercept(call => {
    if (call.kind === 'Pod') fill();
  });
  return world;
}

it('is not taken for the new cluster: nothing is recorded, opened or deleted, and a user is notified', async () => {
  const world = worldOnVolumesOf(['example-0', 'example-1', 'example-2']);
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'blocked', reason: 'ClusterIdMismatch' });
  const { clusterID, incarnation } = world.cluster.status;
  expect(clusterID).toBeUndefined();
  expect(world.names('Service')).not.toContain('example-client');
  const claims = world.kube.all('PersistentVolumeClaim');
  expect(claims).toHaveLength(3);
  for (const { metadata } of claims)
    expect(metadata.annotations ?? {}).not.toHaveProperty(ANNOTATION_CLUSTER_ID);
  const [before] = world.etcd.clusters;
  expect(condition(world, 'Progressing')?.message).toContain(before?.id);
  expect(condition(world, 'Progressing')?.message).toContain(incarnation?.token);
});

it('leaves a quorum of others its way when one member alone comes up on such a volume', async () => {
  const world = worldOnVolumesOf(['example-1']);
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'idle' });
  expect(world.cluster.status.clusterID).toBe(world.etcd.clusters.at(-1)?.id);
  expect(world.kube.all('PersistentVolumeClaim')).toHaveLength(3);
  // It was started a moment ago.
  expect(condition(world, 'Healthy')).toMatchObject({ status: 'False', reason: 'MembersChanging' });
  world.now += 360_000;
  await world.run();
  expect(condition(world, 'Healthy')).toMatchObject({ status: 'Unknown' });
  expect(condition(world, 'Healthy')?.message).toContain('example-1');
});

it('is recognized by the first that answers: one volume of a cluster that had one member', async () => {
  const world = worldOnVolumesOf(['example-1'], { alone: true });
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'blocked', reason: 'ClusterIdMismatch' });
  expect(decision).toMatchObject({ message: expect.stringContaining('example-1') });
  expect(world.names('Service')).not.toContain('example-client');
  expect(world.kube.all('PersistentVolumeClaim')).toHaveLength(3);
});

it('is not recorded either when the status is lost meanwhile', async () => {
  const world = worldOnVolumesOf(['example-0', 'example-1', 'example-2']);
  await world.run();
  world.kube.mutate(world.resource, object => delete object['status']);
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'blocked', reason: 'IdentityUnknown' });
  expect(world.cluster.status.clusterID).toBeUndefined();
  expect(world.kube.all('PersistentVolumeClaim')).toHaveLength(3);
});

it('ends by itself when the volumes are emptied and the members start again', async () => {
  const world = worldOnVolumesOf(['example-0', 'example-1', 'example-2']);
  await world.run();
  for (const { metadata } of world.kube.all('PersistentVolumeClaim')) world.etcd.wipe(metadata.uid ?? '');
  for (const name of world.names('Pod')) await world.kube.as('kubectl').delete(world.pod(name));
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'idle' });
  expect(world.cluster.status.clusterID).toBe(world.etcd.clusters.at(-1)?.id);
});

describe('a member that is added and comes up with such a log', () => {
  const grown = async () => {
    const world = worldOnVolumesOf(['example-3'], { alone: true });
    await world.run();
    world.now += 60_000;
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 4 } }, { type: 'merge' });
    await world.run();
    return world;
  };
  const listed = (world: OperatorWorld) => world.etcd.clusters[0]?.rows.length;

  it('is given up, its claim is kept for a while, and another is tried later', async () => {
    const world = await grown();
    expect(world.cluster.status.givenUp).toMatchObject({
      member: 'example-3',
      reason: expect.stringMatching(/volume contains the data of another cluster/),
    });
    expect(listed(world)).toBe(3);
    const kept = world.kube.peek(world.claim('example-3'));
    expect(kept?.metadata.annotations).toHaveProperty(ANNOTATION_KEPT_UNTIL);
    world.now += 11 * 60_000;
    await world.run();
    await world.run();
    expect(listed(world)).toBe(4);
    expect(world.names('Pod')).toContain('example-4');
  });

  it('does not keep the others from being started again meanwhile', async () => {
    const world = worldOnVolumesOf(['example-3'], { alone: true });
    await world.run();
    world.now += 60_000;
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 4 } }, { type: 'merge' });
    while (!world.names('Pod').includes('example-3')) await world.step();
    world.kubelet.settle();
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    await world.run();
    expect(world.names('Pod')).toContain('example-1');
  });
});
