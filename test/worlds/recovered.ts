/** A quorum that is lost for good in a world in memory, and what a recovery must come to. */
import { expect } from 'vitest';
import { ANNOTATION_KEPT_BY_RESTORE } from '../../src/api/names.ts';
import { RestoreWorld } from './restore-world.ts';

export const LEFT = 'example-2';
const NEW = ['example-3', 'example-4', 'example-5'];

/** Two of three members are gone for good, with their volumes. */
export async function lost(): Promise<RestoreWorld> {
  const world = await RestoreWorld.withCluster();
  await world.loseVolumesOf(['example-0', 'example-1']);
  await world.runCluster();
  return world;
}

/** The same, and the recovery from the third is approved. */
export async function approved(): Promise<RestoreWorld> {
  const world = await lost();
  world.requestRecovery();
  await world.drive({}, { after: step => step === 'requestRecovery' });
  const [name = ''] = world.names('EtcdRestore');
  world.adopt(name);
  return world;
}

export function expectRecovered(world: RestoreWorld, members: readonly string[] = NEW): void {
  expect(world.restore).toMatchObject({ phase: 'Succeeded', succeeded: true });
  expect(world.cluster.status.members?.ready).toEqual(members);
  expect(world.names('Pod')).toEqual(members);
  // The volume of the survivor is kept.
  expect(world.names('PersistentVolumeClaim')).toEqual([LEFT, ...members]);
  const { annotations } = world.kube.peek(world.claim(LEFT))?.metadata ?? {};
  expect(annotations).toMatchObject({ [ANNOTATION_KEPT_BY_RESTORE]: world.restoreRef.name });
  expect(world.names('Service')).toEqual(['example', 'example-client']);
  const etcd = world.etcd.clusters.at(-1);
  expect(etcd?.rows.filter(({ isLearner }) => !isLearner)).toHaveLength(3);
  expect(etcd?.id).toBe(world.cluster.status.clusterID);
}
