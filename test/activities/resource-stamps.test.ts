/** A user who replaces the whole EtcdCluster with a plain manifest removes what the operator keeps on it. */
import { describe, expect, it } from 'vitest';
import { FINALIZER } from '../../src/api/names.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 240_000 };

async function replaced(): Promise<{ world: OperatorWorld; before: Record<string, string> | undefined }> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16' } });
  await world.run();
  await world.run();
  const before = world.cluster.metadata.annotations;
  // `kubectl replace` of a manifest without annotations and finalizers.
  world.kube.mutate(world.resource, ({ metadata }) => {
    delete metadata.annotations;
    delete metadata.finalizers;
  });
  return { world, before };
}

describe('an EtcdCluster that was replaced', LONG, () => {
  it('gets its finalizer and its stamps back', async () => {
    const { world, before } = await replaced();
    await world.run();
    expect(world.cluster.metadata.finalizers).toEqual([FINALIZER]);
    expect(world.cluster.metadata.annotations).toEqual(before);
    expect(world.events.map(({ reason }) => reason)).toContain('ObjectPutBack');
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'idle' });
  });

  it('takes its claims along when it is deleted later', async () => {
    const { world } = await replaced();
    await world.run();
    await world.kube.as('kubectl').delete(world.resource);
    await world.run();
    expect(world.names('Pod')).toEqual([]);
    expect(world.names('PersistentVolumeClaim')).toEqual([]);
  });

  it('is known again when its status is lost after that', async () => {
    const { world } = await replaced();
    await world.run();
    const { clusterID, incarnation } = world.cluster.status;
    world.kube.mutate(world.resource, object => void (object['status'] = {}));
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ clusterID, incarnation: { token: incarnation?.token } });
  });
});
