/** Members that somebody else removed, on a world in memory: what they held is kept for a while. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_KEPT_UNTIL, ANNOTATION_REMOVAL } from '../../src/api/names.ts';
import { KubeError } from '../../src/kube/errors.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };
const DAY_MS = 86_400_000;

async function created(size = 3): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size, version: '3.6.16' } });
  await world.run();
  await world.run();
  return world;
}

/** `etcdctl member remove`. */
function removeByHand(world: OperatorWorld, member: string): void {
  const cluster = world.etcd.clusters[0];
  const id = cluster?.rows.find(({ name }) => name === member)?.id;
  if (id === undefined) throw new Error(`${member} is no member`);
  cluster?.remove(id);
}

function notesOf(world: OperatorWorld, claim: string): Readonly<Record<string, string>> {
  return world.kube.peek(world.claim(claim))?.metadata.annotations ?? {};
}

const listed = (world: OperatorWorld) => world.etcd.clusters[0]?.rows.map(({ name }) => name);

describe('a member that is removed with etcdctl', LONG, () => {
  it('has its claim kept for as long as that of a dead one, and another takes its place', async () => {
    const world = await created();
    removeByHand(world, 'example-2');
    const at = world.now;
    await world.kube.as('kubectl').delete(world.pod('example-2'));
    world.kubelet.settle();
    await world.run();
    await world.run();
    expect(listed(world)).toEqual(['example-0', 'example-1', 'example-3']);
    expect(world.names('PersistentVolumeClaim')).toContain('example-2');
    const until = Date.parse(notesOf(world, 'example-2')[ANNOTATION_KEPT_UNTIL] ?? '');
    expect(until).toBeGreaterThanOrEqual(at + DAY_MS);
    expect(world.events.map(({ reason }) => reason)).toContain('ClaimKept');
    world.now = until + 1_000;
    await world.run();
    expect(world.names('PersistentVolumeClaim')).not.toContain('example-2');
  });
});

describe('a member that the operator removes', LONG, () => {
  it('has that noted on its claim before etcd is asked, and the claim goes at once', async () => {
    const world = await created();
    const noted: (string | undefined)[] = [];
    world.kube.intercept(({ verb, kind, name = '' }) => {
      if (verb !== 'patch' || kind !== 'PersistentVolumeClaim') return;
      noted.push(...(listed(world)?.filter(member => member === name) ?? []));
    });
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 2 } }, { type: 'merge' });
    await world.run();
    await world.run();
    expect(listed(world)).toEqual(['example-0', 'example-1']);
    expect(noted).toContain('example-2');
    expect(world.names('PersistentVolumeClaim')).toEqual(['example-0', 'example-1']);
  });

  it('goes although no one may note anything on its claim', async () => {
    const world = await created();
    world.kube.intercept(({ verb, kind }) => {
      if (verb !== 'patch' || kind !== 'PersistentVolumeClaim') return;
      throw new KubeError({ code: 403, reason: 'Forbidden', message: 'no claim is changed', retry: 'never' });
    });
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 2 } }, { type: 'merge' });
    await world.run().catch(() => undefined);
    expect(listed(world)).toEqual(['example-0', 'example-1']);
    expect(world.names('PersistentVolumeClaim')).toContain('example-2');
    expect(notesOf(world, 'example-2')[ANNOTATION_REMOVAL]).toBeUndefined();
  });
});
