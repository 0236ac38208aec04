/** A claim that was deleted and made again under its name: what its annotations say was copied, its uid was not. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_CLAIM_UID } from '../../src/api/names.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { condition } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const VICTIM = 'example-1';
const DAY = 86_400;

async function living(replaceAfterSeconds: number): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', repair: { replaceAfterSeconds } } });
  await world.run();
  await world.run();
  return world;
}

/** As Velero, or a person with a snapshot, does it: the same manifest, another object. */
async function exchange(world: OperatorWorld, name: string, { stamped = true } = {}): Promise<void> {
  const old = world.kube.peek(world.claim(name))!;
  const kubectl = world.kube.as('kubectl');
  await kubectl.delete(world.pod(name));
  await kubectl.delete(world.claim(name));
  world.kubelet.settle();
  const { labels, annotations = {} } = old.metadata;
  const { [ANNOTATION_CLAIM_UID]: _, ...unbound } = annotations;
  const metadata = { name, namespace: 'shop', labels, annotations: stamped ? annotations : unbound };
  await kubectl.create({ ...old, metadata, status: {} } as WritableObject);
}

const pods = (world: OperatorWorld) => world.names('Pod');
const voters = (world: OperatorWorld) => world.etcd.clusters[0]?.rows.map(({ name }) => name);
const loseStatus = (world: OperatorWorld) =>
  world.kube.mutate(world.resource, object => delete object['status']);

describe('a claim that was exchanged', () => {
  it('is not what its member is started on, and status says so', async () => {
    const world = await living(DAY);
    await exchange(world, VICTIM);
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'ClaimExchanged' });
    expect(pods(world)).toEqual(['example-0', 'example-2']);
    expect(voters(world)).toContain(VICTIM);
    expect(condition(world, 'Recovering')).toMatchObject({ status: 'True', reason: 'ClaimExchanged' });
  });

  it('is seen by the status alone, when nothing is noted on the copy', async () => {
    const world = await living(DAY);
    await exchange(world, VICTIM, { stamped: false });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'ClaimExchanged' });
    expect(pods(world)).not.toContain(VICTIM);
  });

  it('is seen by its own note, when the status was lost', async () => {
    const world = await living(DAY);
    await exchange(world, VICTIM);
    loseStatus(world);
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'ClaimExchanged' });
    expect(pods(world)).not.toContain(VICTIM);
  });

  it('leads to a new member after the time that lost members are waited for, and is kept', async () => {
    const world = await living(600);
    await exchange(world, VICTIM);
    await world.run();
    world.now += 700_000;
    await world.run();
    await world.run();
    expect(voters(world)).toEqual(['example-0', 'example-2', 'example-3']);
    expect(world.names('PersistentVolumeClaim')).toContain(VICTIM);
  });

  it('is used when a person says that it is the right one', async () => {
    const world = await living(DAY);
    await exchange(world, VICTIM);
    await world.run();
    const { uid = '' } = world.kube.peek(world.claim(VICTIM))?.metadata ?? {};
    expect(condition(world, 'Recovering')?.message).toContain(
      `kubectl -n shop annotate pvc ${VICTIM} --overwrite ${ANNOTATION_CLAIM_UID}=${uid}`,
    );
    world.kube.mutate(world.claim(VICTIM), ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [ANNOTATION_CLAIM_UID]: uid };
    });
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'operate', step: { kind: 'restartMember', claimUid: uid } });
  });

  it('of every member makes it no one’s turn: nothing is started, and nothing is restored', async () => {
    const world = await living(0);
    for (const name of ['example-0', VICTIM, 'example-2']) await exchange(world, name);
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'ClaimExchanged' });
    expect(pods(world)).toEqual([]);
    expect(world.names('EtcdRestore')).toEqual([]);
  });

  it('under a running member leads to its replacement, and is never called its own', async () => {
    const world = await living(DAY);
    const old = world.kube.peek(world.claim(VICTIM))!;
    await world.kube.as('kubectl').delete(world.claim(VICTIM));
    world.now += 5_000;
    const { labels, annotations = {} } = old.metadata;
    const { [ANNOTATION_CLAIM_UID]: _, ...unbound } = annotations;
    const metadata = { name: VICTIM, namespace: 'shop', labels, annotations: unbound };
    await world.kube.as('kubectl').create({ ...old, metadata, status: {} } as WritableObject);
    loseStatus(world);
    await world.step();
    await world.run();
    expect(world.kube.peek(world.claim(VICTIM))?.metadata.annotations).not.toHaveProperty([
      ANNOTATION_CLAIM_UID,
    ]);
  });
});

describe('a claim whose stamp was taken off', () => {
  it('gets its uid while its member runs on it', async () => {
    const world = await living(DAY);
    world.kube.mutate(world.claim(VICTIM), ({ metadata }) => {
      delete metadata.annotations?.[ANNOTATION_CLAIM_UID];
    });
    world.kube.mutate(world.resource, object => {
      const status = object['status'] as { members: { details: { claimUID?: string }[] } };
      for (const detail of status.members.details) delete detail.claimUID;
    });
    await world.run();
    const { uid, annotations } = world.kube.peek(world.claim(VICTIM))?.metadata ?? {};
    expect(annotations?.[ANNOTATION_CLAIM_UID]).toBe(uid);
    await world.run();
    const detail = world.cluster.status.members?.details?.find(({ name }) => name === VICTIM);
    expect(detail?.claimUID).toBe(uid);
  });
});
