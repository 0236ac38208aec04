/** What claims say of themselves outlives a status that was lost before the cluster had formed. */
import { expect, it } from 'vitest';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_DATA_VERSION, ANNOTATION_MEMBER_ID } from '../../src/api/names.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const loseStatus = (world: OperatorWorld) =>
  world.kube.mutate(world.resource, object => delete object['status']);

it('is written though the cluster id was read from a quorum and never recorded as formed', async () => {
  const world = new OperatorWorld();
  await world.runUntil('recordClusterId');
  loseStatus(world);
  await world.run();
  const { clusterID } = world.cluster.status;
  const claims = world.kube.all('PersistentVolumeClaim');
  expect(claims).toHaveLength(3);
  for (const { metadata } of claims)
    expect(metadata.annotations).toMatchObject({
      [ANNOTATION_CLUSTER_ID]: clusterID,
      [ANNOTATION_MEMBER_ID]: expect.stringMatching(/^[0-9a-f]+$/),
      [ANNOTATION_DATA_VERSION]: '3.6.16',
    });
});

it('so that a cluster whose status is lost again, and its pods with it, comes back by itself', async () => {
  const world = new OperatorWorld();
  await world.run();
  for (const { metadata } of world.kube.all('PersistentVolumeClaim'))
    world.kube.mutate(world.claim(metadata.name), claim => {
      const { [ANNOTATION_DATA_VERSION]: _, ...annotations } = claim.metadata.annotations ?? {};
      claim.metadata.annotations = annotations;
    });
  await world.run();
  for (const { metadata } of world.kube.all('Pod'))
    await world.kube.as('kubectl').delete(world.pod(metadata.name));
  loseStatus(world);
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'idle' });
  expect(world.kube.all('Pod')).toHaveLength(3);
});
