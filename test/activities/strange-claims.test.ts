/** Claims and pods that somebody else made: under the name of the next member, or as copies with all that is noted on ours. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_CLAIM_UID } from '../../src/api/names.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const DAY_MS = 86_400_000;

async function running(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  world.now += 60_000;
  await world.run();
  return world;
}

const grow = (world: OperatorWorld) =>
  world.kube.as('kubectl').patch(world.resource, { spec: { size: 4 } }, { type: 'merge' });

const strange = (kind: string, name: string): WritableObject =>
  ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: 'shop' },
    spec: { containers: [], volumes: [] },
    status: { phase: kind === 'Pod' ? 'Succeeded' : 'Bound' },
  }) as WritableObject;

const listed = (world: OperatorWorld) =>
  (world.etcd.clusters[0]?.rows ?? []).map(({ peerUrls }) => /example-\d+/.exec(peerUrls.join())?.[0]);

describe('the name of the next member', () => {
  it.each(['PersistentVolumeClaim', 'Pod'])(
    'is another one when a %s has it that is not ours',
    async kind => {
      const world = await running();
      world.kube.seed(strange(kind, 'example-3'));
      await grow(world);
      const { decision } = await world.run();
      expect(decision).toMatchObject({ kind: 'idle' });
      expect(listed(world)).toEqual(['example-0', 'example-1', 'example-2', 'example-4']);
      expect(world.names(kind)).toContain('example-3');
    },
  );

  it('is given up when a user takes it after the member was added', async () => {
    const world = await running();
    await grow(world);
    while (!listed(world).includes('example-3')) await world.step();
    world.kube.seed(strange('PersistentVolumeClaim', 'example-3'));
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'idle' });
    expect(listed(world)).toEqual(['example-0', 'example-1', 'example-2', 'example-4']);
    expect(world.names('PersistentVolumeClaim')).toContain('example-3');
  });
});

/** As `kubectl get pvc example-0 -o yaml` gives it, under another name, with a volume of its own. */
function copyTo(world: OperatorWorld, name: string, { notes = true } = {}): void {
  const claim = world.kube.peek(world.claim('example-0'));
  if (claim === undefined) throw new Error('there is no claim example-0');
  const { uid: _, resourceVersion: __, ...metadata } = claim.metadata;
  const { [ANNOTATION_CLAIM_UID]: ___, ...others } = metadata.annotations ?? {};
  const annotations = notes ? (metadata.annotations ?? {}) : others;
  world.kube.seed({ ...claim, metadata: { ...metadata, annotations, name } } as WritableObject);
}

describe('a copy of a claim with all that is noted on it', () => {
  it.each(['example-0-copy', 'example-7'])(
    'is left alone as %s, also when its time would have come',
    async name => {
      const world = await running();
      copyTo(world, name);
      await world.run();
      world.now += 2 * DAY_MS;
      expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
      expect(world.names('PersistentVolumeClaim')).toContain(name);
    },
  );

  it('outlives the cluster', async () => {
    const world = await running();
    copyTo(world, 'example-0-copy');
    await world.deleteCluster();
    await world.run();
    expect(world.names('PersistentVolumeClaim')).toEqual(['example-0-copy']);
  });

  it('is no member when the status is lost, and keeps none from coming back', async () => {
    const world = await running();
    copyTo(world, 'example-0-copy', { notes: false });
    for (const name of world.names('Pod')) await world.kube.as('kubectl').delete(world.pod(name));
    world.kube.mutate(world.resource, object => delete object['status']);
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(world.names('Pod')).toEqual(['example-0', 'example-1', 'example-2']);
    expect(world.cluster.status.incarnation?.members.map(({ name }) => name)).not.toContain('example-0-copy');
  });
});
