/** Deletions of a whole cluster in a world of its own: what stays, and what it says of itself. */
import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_BEGIN_ANEW,
  ANNOTATION_LEFT_BY,
  ANNOTATION_TAKE_UP,
  API_VERSION,
} from '../../src/api/names.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { refTo } from '../../src/kube/resources.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 240_000 };
const SPEC = { size: 3, version: '3.6.16' };
const KINDS = ['Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'];

async function living(spec: object = {}): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { ...SPEC, ...spec } });
  await world.run();
  await world.run();
  return world;
}

const orphan = (world: OperatorWorld) =>
  world.kube.as('kubectl').delete(world.resource, { propagation: 'Orphan' });
const objects = (world: OperatorWorld): KubeObject[] => KINDS.flatMap(kind => world.kube.all(kind));
const alive = (world: OperatorWorld) =>
  objects(world)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`);
const reasons = (world: OperatorWorld) => world.events.map(({ reason }) => reason);

function expectLeft(world: OperatorWorld, before: readonly string[]): void {
  expect(world.kube.peek(world.resource)).toBeUndefined();
  expect(alive(world)).toEqual(before);
  expect(objects(world).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
  const members = objects(world).filter(({ kind }) => kind === 'Pod' || kind === 'PersistentVolumeClaim');
  for (const { metadata } of members) expect(metadata.annotations?.[ANNOTATION_LEFT_BY]).toContain('take-up');
  expect(reasons(world)).toContain('ObjectsLeft');
}

describe('an EtcdCluster that a person paused', LONG, () => {
  const paused = { paused: { by: 'ana' } };
  const deleteAll = async (world: OperatorWorld, kinds: readonly string[]) => {
    for (const kind of kinds)
      for (const object of world.kube.all(kind))
        await world.kube.as('namespace-controller').delete(refTo(object));
    world.kubelet.settle();
  };

  it('is kept while it has pods or claims to lose', async () => {
    const world = await living();
    const before = alive(world);
    await world.kube.as('kubectl').delete(world.resource);
    await world.run(paused);
    expect(alive(world)).toEqual(before);
    await deleteAll(world, ['Pod']);
    await world.run(paused);
    expect(world.kube.peek(world.resource)).toBeDefined();
    expect(world.names('PersistentVolumeClaim')).toHaveLength(3);
  });

  it('goes with its namespace, where no one can ask to resume', async () => {
    const world = await living();
    await world.kube.as('namespace-controller').delete(world.resource);
    await deleteAll(world, KINDS);
    await world.run(paused);
    expect(world.kube.peek(world.resource)).toBeUndefined();
  });
});

describe('an EtcdCluster that is deleted with --cascade=orphan', LONG, () => {
  it('leaves pods, claims and Services, when the operator comes before the garbage collector', async () => {
    const world = await living();
    const before = alive(world);
    await orphan(world);
    await world.run();
    expect(alive(world)).toEqual(before);
    world.kube.orphanDependents(world.resource);
    expectLeft(world, before);
  });

  it('leaves them when the garbage collector had finished while the operator was down', async () => {
    const world = await living();
    const before = alive(world);
    await orphan(world);
    world.kube.orphanDependents(world.resource);
    await world.run();
    expectLeft(world, before);
  });

  it('leaves the claims of a cluster that is hibernated', async () => {
    const world = await living();
    world.kube.mutate(world.resource, object => void (object['spec'] = { ...SPEC, hibernated: true }));
    await world.run();
    await world.run();
    expect(world.names('Pod')).toEqual([]);
    const before = alive(world);
    await orphan(world);
    world.kube.orphanDependents(world.resource);
    await world.run();
    expectLeft(world, before);
  });

  it('leaves what is left when it was being deleted already', async () => {
    const world = await living();
    await world.deleteCluster();
    const step = await world.runUntil('deletePods');
    await orphan(world);
    await expect(world.perform(step)).rejects.toThrow('--cascade=orphan');
    const before = alive(world);
    await world.run();
    world.kube.orphanDependents(world.resource);
    expectLeft(world, before);
  });

  it('can be killed at any call of it', async () => {
    for (let at = 1; at <= 12; at += 1) {
      const world = await living();
      const before = alive(world);
      await orphan(world);
      world.kill({ at: world.calls + at });
      await world.runUntilKilled();
      if (at % 2 === 0) world.kube.orphanDependents(world.resource);
      world.reboot();
      await world.run();
      if (at % 2 === 1) world.kube.orphanDependents(world.resource);
      expectLeft(world, before);
    }
  });
});

describe('an EtcdCluster that is deleted with storage.retain: Retain', LONG, () => {
  it('leaves claims that say whose they were, and nothing else', async () => {
    const world = await living({ storage: { retain: 'Retain' } });
    const claims = world.names('PersistentVolumeClaim');
    await world.deleteCluster();
    await world.run();
    expect(objects(world).map(({ metadata }) => metadata.name)).toEqual(claims);
    for (const { metadata } of objects(world))
      expect(metadata.annotations?.[ANNOTATION_LEFT_BY]).toContain(world.ref.uid);
    expect(reasons(world)).toContain('ObjectsLeft');
  });
});

/** The manifest is applied again. */
function reapply(
  world: OperatorWorld,
  given: { spec?: object; annotations?: Record<string, string> } = {},
): void {
  const { namespace, name } = world.ref;
  const { spec = {}, annotations = {} } = given;
  world.kube.seed({
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    metadata: { namespace, name, annotations },
    spec: { ...SPEC, ...spec },
  } as WritableObject);
  world.follow();
}

const annotate = (world: OperatorWorld, annotations: Record<string, string>) =>
  world.kube.mutate(world.resource, ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, ...annotations };
  });
const condition = (world: OperatorWorld, type: string) =>
  world.cluster.status.conditions?.find(each => each.type === type);
const idsOf = (world: OperatorWorld) =>
  Object.fromEntries((world.cluster.status.members?.details ?? []).map(({ name, id }) => [name, id]));

async function retained(
  spec: object = {},
): Promise<{ world: OperatorWorld; token: string; clusterID: string; ids: object }> {
  const world = await living({ storage: { retain: 'Retain' }, ...spec });
  const { incarnation, clusterID = '' } = world.cluster.status;
  const ids = idsOf(world);
  await world.deleteCluster();
  await world.run();
  return { world, token: incarnation?.token ?? '', clusterID, ids };
}

async function orphaned(
  spec: object = {},
): Promise<{ world: OperatorWorld; token: string; clusterID: string; ids: object }> {
  const world = await living(spec);
  const { incarnation, clusterID = '' } = world.cluster.status;
  const ids = idsOf(world);
  await orphan(world);
  await world.run();
  world.kube.orphanDependents(world.resource);
  return { world, token: incarnation?.token ?? '', clusterID, ids };
}

describe('an EtcdCluster that is applied again after its claims were kept', LONG, () => {
  it('creates nothing and says how to continue both ways', async () => {
    const { world, token } = await retained();
    const before = alive(world);
    reapply(world);
    await world.run();
    expect(alive(world)).toEqual(before);
    const available = condition(world, 'Available');
    expect(available).toMatchObject({ status: 'False', reason: 'FormerCluster' });
    expect(available?.message).toContain(`${ANNOTATION_TAKE_UP}=${token}`);
    expect(available?.message).toContain(`${ANNOTATION_BEGIN_ANEW}=${token}`);
    expect(world.events.map(({ message }) => message).join()).toContain(`${ANNOTATION_TAKE_UP}=${token}`);
    expect(world.cluster.metadata.finalizers ?? []).toEqual([]);
  });

  it('creates no certificate either', async () => {
    const { world } = await retained({ TLS: { auto: {} } });
    expect(world.names('Secret')).toEqual([]);
    reapply(world, { spec: { TLS: { auto: {} } } });
    await world.run();
    expect(world.names('Secret')).toEqual([]);
  });

  it('takes the members up with their ids when a person names the incarnation', async () => {
    const { world, token, clusterID, ids } = await retained();
    reapply(world);
    await world.run();
    annotate(world, { [ANNOTATION_TAKE_UP]: token });
    await world.run();
    await world.run();
    const { status } = world.cluster;
    expect(status).toMatchObject({ clusterID, incarnation: { token }, phase: 'Running', ready: '3/3' });
    expect(idsOf(world)).toEqual(ids);
    expect(world.names('Pod')).toEqual(Object.keys(ids));
    expect(reasons(world)).toContain('MembersTakenUp');
    // A new note says who has the claims next.
    for (const claim of world.kube.all('PersistentVolumeClaim'))
      expect(claim.metadata.annotations?.[ANNOTATION_LEFT_BY]).toBeUndefined();
    expect((await world.look()).decision).toMatchObject({ kind: 'idle' });
  });

  it('takes them up at once when the manifest names the incarnation, and under TLS.auto with new authorities', async () => {
    const TLS = { auto: {} };
    const { world, token, clusterID, ids } = await retained({ TLS });
    reapply(world, { spec: { TLS }, annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ clusterID, ready: '3/3' });
    expect(idsOf(world)).toEqual(ids);
  });

  it('begins again beside the claims when a person asks for that', async () => {
    const { world, token, clusterID } = await retained();
    const kept = alive(world);
    reapply(world, { annotations: { [ANNOTATION_BEGIN_ANEW]: token } });
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ phase: 'Running', ready: '3/3' });
    expect(world.cluster.status.clusterID).not.toBe(clusterID);
    expect(world.names('Pod')).toEqual(['example-3', 'example-4', 'example-5']);
    expect(alive(world)).toEqual(expect.arrayContaining(kept));
  });

  it('asks again when that cluster was deleted, too', async () => {
    const { world, token } = await retained();
    const annotations = { [ANNOTATION_BEGIN_ANEW]: token };
    reapply(world, { annotations, spec: { storage: { retain: 'Retain' } } });
    await world.run();
    await world.run();
    const { token: second = '' } = world.cluster.status.incarnation ?? {};
    await world.deleteCluster();
    await world.run();
    reapply(world, { annotations });
    await world.run();
    expect(condition(world, 'Available')?.message).toContain(`${ANNOTATION_TAKE_UP}=${second}`);
    annotate(world, { [ANNOTATION_TAKE_UP]: token, [ANNOTATION_BEGIN_ANEW]: token });
    await world.run();
    expect(condition(world, 'Available')?.message).toContain('ask for both ways');
  });

  it('gives no name again that something else has which is left', async () => {
    const { world, token } = await retained();
    reapply(world, {
      annotations: { [ANNOTATION_BEGIN_ANEW]: token },
      spec: { storage: { retain: 'Retain' } },
    });
    await world.run();
    await world.run();
    await world.deleteCluster();
    await world.run();
    reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token }, spec: { size: 4 } });
    await world.run();
    await world.run();
    expect(world.names('Pod')).toEqual(['example-0', 'example-1', 'example-2', 'example-6']);
  });

  it('waits for the claims of a quorum, and names those that are missing', async () => {
    const { world, token } = await retained();
    const [one, two] = ['example-1', 'example-2'].map(name => world.kube.peek(world.claim(name)));
    for (const name of ['example-1', 'example-2']) world.kube.finishDeletion(world.claim(name));
    reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    expect(world.names('Pod')).toEqual([]);
    expect(condition(world, 'Available')).toMatchObject({ reason: 'TakeUpRefused' });
    expect(condition(world, 'Available')?.message).toContain('claim example-1, example-2 is missing');
    if (one === undefined || two === undefined) throw new Error('no claims');
    world.kube.seed(one as unknown as WritableObject, two as unknown as WritableObject);
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ ready: '3/3' });
  });

  it('never becomes an empty cluster when nothing of the named incarnation is there', async () => {
    const world = await living();
    const { token = '' } = world.cluster.status.incarnation ?? {};
    await world.deleteCluster();
    await world.run();
    reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    expect(objects(world)).toEqual([]);
    expect(condition(world, 'Available')).toMatchObject({ reason: 'TakeUpRefused' });
  });

  it('is known again when its status and the stamps on it are lost later', async () => {
    const { world, token, clusterID } = await retained();
    reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    await world.run();
    world.kube.mutate(world.resource, object => void (object['status'] = {}));
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ clusterID, incarnation: { token } });
    world.kube.mutate(world.resource, ({ metadata }) => {
      delete metadata.annotations;
      delete metadata.finalizers;
    });
    await world.run();
    world.kube.mutate(world.resource, object => void (object['status'] = {}));
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ clusterID, incarnation: { token } });
  });

  it('is known again when its status and its stamps are lost at once, and keeps its claims', async () => {
    const { world, token, clusterID } = await retained();
    reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    await world.run();
    world.kube.mutate(world.resource, object => {
      object['status'] = {};
      delete object.metadata.annotations;
      delete object.metadata.finalizers;
    });
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({
      clusterID,
      incarnation: { token },
      storage: { kind: 'PersistentVolumeClaim' },
      ready: '3/3',
    });
  });

  it('keeps its claims when it is deleted as an orphan after its status was lost', async () => {
    const world = await living();
    const before = alive(world);
    world.kube.mutate(world.resource, object => void (object['status'] = {}));
    await orphan(world);
    await world.run();
    world.kube.orphanDependents(world.resource);
    expect(alive(world)).toEqual(before);
    expect(world.kube.peek(world.resource)).toBeUndefined();
  });

  it('takes its claims along when it is deleted with Delete after it was taken up', async () => {
    const { world, token } = await retained();
    reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    await world.run();
    await world.deleteCluster();
    await world.run();
    expect(objects(world)).toEqual([]);
  });

  it('can be killed at any call while it is taken up', async () => {
    for (let at = 2; at <= 30; at += 3) {
      const { world, token, clusterID } = await retained();
      reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token } });
      world.kill({ at: world.calls + at });
      await world.runUntilKilled();
      world.reboot();
      await world.run();
      await world.run();
      expect(world.cluster.status).toMatchObject({ clusterID, incarnation: { token }, ready: '3/3' });
    }
  });
});

describe('an EtcdCluster that is applied again after an orphan deletion', LONG, () => {
  it('takes up the pods that run without restarting them', async () => {
    const { world, token, clusterID, ids } = await orphaned();
    const before = alive(world);
    reapply(world);
    await world.run();
    expect(alive(world)).toEqual(before);
    expect(condition(world, 'Available')).toMatchObject({ reason: 'FormerCluster' });
    annotate(world, { [ANNOTATION_TAKE_UP]: token });
    await world.run();
    await world.run();
    expect(alive(world)).toEqual(before);
    expect(world.cluster.status).toMatchObject({ clusterID, phase: 'Running', ready: '3/3' });
    expect(idsOf(world)).toEqual(ids);
    const pods = world.kube.all('Pod');
    expect(pods.flatMap(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid))).toEqual(
      pods.map(() => world.ref.uid),
    );
    expect((await world.look()).decision).toMatchObject({ kind: 'idle' });
  });

  it('takes up its certificates, which the members trust', async () => {
    const TLS = { auto: {} };
    const { world, token, clusterID } = await orphaned({ TLS });
    const secrets = world.kube.all('Secret').map(({ metadata, data }) => [metadata.uid, data]);
    const before = alive(world);
    reapply(world, { spec: { TLS }, annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    await world.run();
    expect(alive(world)).toEqual(before);
    expect(world.cluster.status).toMatchObject({ clusterID, ready: '3/3' });
    expect(world.kube.all('Secret').map(({ metadata, data }) => [metadata.uid, data])).toEqual(secrets);
  });

  it('is refused another way of TLS than its members have', async () => {
    const { world, token } = await orphaned();
    const before = alive(world);
    reapply(world, { spec: { TLS: { auto: {} } }, annotations: { [ANNOTATION_TAKE_UP]: token } });
    await world.run();
    expect(alive(world)).toEqual(before);
    expect(condition(world, 'Available')).toMatchObject({ reason: 'TakeUpRefused' });
    expect(condition(world, 'Available')?.message).toContain('its members use plain text');
  });

  it('does not begin again while its pods run', async () => {
    const { world, token } = await orphaned();
    const before = alive(world);
    reapply(world, { annotations: { [ANNOTATION_BEGIN_ANEW]: token } });
    await world.run();
    expect(alive(world)).toEqual(before);
    expect(condition(world, 'Available')?.message).toContain('still exists');
  });

  it('can be killed at any call while it is taken up', async () => {
    for (let at = 3; at <= 42; at += 3) {
      const { world, token, clusterID } = await orphaned();
      const before = alive(world);
      reapply(world, { annotations: { [ANNOTATION_TAKE_UP]: token } });
      world.kill({ at: world.calls + at });
      await world.runUntilKilled();
      world.reboot();
      await world.run();
      await world.run();
      expect(alive(world)).toEqual(before);
      expect(world.cluster.status).toMatchObject({ clusterID, incarnation: { token }, ready: '3/3' });
      expect(
        objects(world).filter(
          ({ kind, metadata }) => kind !== 'PersistentVolumeClaim' && metadata.ownerReferences?.length !== 1,
        ),
      ).toEqual([]);
    }
  });
});
