/** A cluster that was restored and is to be what it was before, in memory, and how that must end. */
import { expect } from 'vitest';
import { ANNOTATION_KEPT_BY_RESTORE, ANNOTATION_KEPT_INCARNATION } from '../../src/api/names.ts';
import type { RestoreWorld } from './restore-world.ts';
import { asked, NEW, OLD } from './restored.ts';

/** An incarnation, as it was before something else took its place. */
interface Before {
  readonly token: string;
  readonly clusterID: string;
}

export interface Restored {
  readonly world: RestoreWorld;
  /** The one that the members of OLD are of, and that of the members of NEW. */
  readonly old: Before;
  readonly now: Before;
}

export function runningNow({ cluster: { status } }: RestoreWorld): Before {
  return { token: status.incarnation?.token ?? '', clusterID: status.clusterID ?? '' };
}

/** A backup was restored over a cluster that had got to this revision. */
export async function restored(): Promise<Restored> {
  const world = await asked();
  const [etcd] = world.etcd.clusters;
  if (etcd !== undefined) etcd.revision = 4_711;
  const old = runningNow(world);
  await world.settle();
  return { world, old, now: runningNow(world) };
}

/** The same, and a person asks for what was before. */
export async function askedBack(): Promise<RestoreWorld> {
  const { world, old } = await restored();
  world.goBack(old.token);
  return world;
}

/** Members, pods and claims as they were before the restore; what it brought is kept. */
export function expectGoneBack(world: RestoreWorld, kept: readonly string[] = NEW): void {
  expect(world.restore).toMatchObject({ phase: 'Succeeded', succeeded: true });
  expect(world.cluster.status.members?.ready).toEqual(OLD);
  expect(world.cluster.status.phase).toBe('Running');
  expect(world.names('Pod')).toEqual(OLD);
  expect(world.names('PersistentVolumeClaim')).toEqual([...OLD, ...kept]);
  expect(world.names('Service')).toEqual(['example', 'example-client']);
  for (const name of OLD) expect(marksOf(world, name)).toEqual([undefined, undefined]);
  for (const name of kept) expect(marksOf(world, name)).toEqual([expect.any(String), expect.any(String)]);
  const etcd = world.etcd.clusters.find(({ id }) => id === world.cluster.status.clusterID);
  expect(etcd?.revision).toBe(4_711);
  expect(etcd?.rows).toHaveLength(OLD.length);
}

/** By what a claim is kept, and what is noted of its incarnation. */
export function marksOf(world: RestoreWorld, claim: string): readonly (string | undefined)[] {
  const { annotations = {} } = world.kube.peek(world.claim(claim))?.metadata ?? {};
  return [annotations[ANNOTATION_KEPT_BY_RESTORE], annotations[ANNOTATION_KEPT_INCARNATION]];
}
