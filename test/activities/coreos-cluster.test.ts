/**
 * A cluster that the CoreOS operator made, under the same kind and name: this operator did not write what its members are, so it
 * neither stops them nor puts an empty cluster in their place.
 */
import { describe, expect, it } from 'vitest';
import { COREOS_CLUSTERS } from '../api/coreos-manifests.ts';
import { COREOS_MEMBERS, seedCoreosCluster } from '../worlds/coreos-cluster.ts';
import { condition } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { RestoreWorld } from '../worlds/restore-world.ts';

function coreosWorld(): RestoreWorld {
  const world = new RestoreWorld({ spec: { size: 3, version: '3.5.35' } });
  seedCoreosCluster(world);
  world.seedBackup({ etcdVersion: '3.5.3' });
  return world;
}

/** Nothing starts them again: they have neither a controller nor a restart policy. */
async function losePods(world: RestoreWorld): Promise<void> {
  for (const name of COREOS_MEMBERS) await world.kube.as('kubectl').delete(world.pod(name));
  world.kubelet.settle();
}

/** Its objects but for the EtcdCluster itself. */
function objectsOf(world: RestoreWorld): string[] {
  const kinds = ['Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'];
  const objects = kinds.flatMap(kind => world.kube.all(kind));
  // Of a pod the kubelet writes the status.
  return objects.map(({ kind, metadata, spec }) =>
    JSON.stringify({ kind, metadata: { ...metadata, resourceVersion: '' }, spec }),
  );
}

describe('a cluster of the CoreOS operator', () => {
  it('is left as it is, and said to be of another operator', async () => {
    const world = coreosWorld();
    const before = objectsOf(world);
    await world.runCluster();
    expect(objectsOf(world)).toEqual(before);
    expect(condition(world, 'Progressing')).toMatchObject({ status: 'False', reason: 'Blocked' });
    expect(condition(world, 'Progressing')?.message).toContain(COREOS_MEMBERS[0]);
    expect(condition(world, 'Available')).toMatchObject({ status: 'Unknown', reason: 'OtherOperator' });
    expect(world.cluster.status.incarnation).toBeUndefined();
  });

  it('is not followed by an empty cluster of the same name when its pods are gone', async () => {
    const world = coreosWorld();
    await world.runCluster();
    await losePods(world);
    await world.runCluster();
    expect(world.names('Pod')).toEqual([]);
    expect(world.names('PersistentVolumeClaim')).toEqual([]);
    expect(world.cluster.status.incarnation).toBeUndefined();
    expect(condition(world, 'Progressing')?.message).toMatch(/3\.5\.3.*restore a backup/);
  });

  it('is not either when its pods were gone before the operator came, and nothing but a Service is left', async () => {
    const world = coreosWorld();
    await losePods(world);
    world.kube.mutate(world.resource, object => delete object['status']);
    await world.runCluster();
    expect(world.names('Pod')).toEqual([]);
    expect(world.cluster.status.incarnation).toBeUndefined();
  });

  it('is not stopped by a restore, also when its members do not answer', async () => {
    const world = coreosWorld();
    const before = objectsOf(world);
    world.request();
    await world.settle();
    expect(objectsOf(world)).toEqual(before);
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'OtherOperator' } });
  });

  it('is not overwritten by an EtcdRestore that the CoreOS operator carried out long ago', async () => {
    const world = coreosWorld();
    world.request();
    world.endedByCoreos();
    await world.settle();
    expect(world.restore).toEqual({ succeeded: true });
  });

  it('goes with its EtcdCluster, without a finalizer that no one takes off', async () => {
    const world = coreosWorld();
    await world.runCluster();
    await world.deleteCluster();
    expect(world.names('EtcdCluster')).toEqual([]);
  });
});

it('an EtcdRestore that the CoreOS operator carried out is not carried out again on a cluster of this operator', async () => {
  const world = await RestoreWorld.withCluster();
  const { clusterID = '' } = world.cluster.status;
  world.request({ confirmClusterID: clusterID });
  world.endedByCoreos();
  await world.settle();
  expect(world.cluster.status.clusterID).toBe(clusterID);
  expect(world.restore).toEqual({ succeeded: true });
});

describe('an EtcdCluster that is created from a manifest for the CoreOS operator', () => {
  const rows = COREOS_CLUSTERS.map(row => [row.what, row] as const);

  it.each(rows.filter(([, { obstacle }]) => obstacle === undefined))('with %s lives', async (_, { spec }) => {
    const world = new OperatorWorld({ spec });
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(condition(world, 'Available')).toMatchObject({ status: 'True' });
    expect(world.cluster.status.members?.ready).toHaveLength(spec.size ?? 3);
  });

  it.each(rows.filter(([, { obstacle }]) => obstacle !== undefined))(
    'with %s says what it lacks',
    async (_, { spec, obstacle }) => {
      const world = new OperatorWorld({ spec });
      expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: obstacle });
      expect(world.names('Pod')).toEqual([]);
    },
  );
});
