/** Steps whose world moved between plan and deed: each refuses, and touches nothing. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { isControlledBy } from '../../src/activities/observe/object-facts.ts';
import { CREATION } from '../worlds/scripted-activities.ts';
import type { Step } from '../../src/planner/model/decision.ts';
import { replaced, vanish } from '../worlds/lost-resource.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const MEMBERS = ['example-0', 'example-1', 'example-2'];
/** A token that no cluster of the world has. */
const OTHER = 'example-00000000-9';

/** A cluster that is fully there. */
async function living(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  return world;
}

/** A cluster whose incarnation is recorded and nothing else. */
async function recorded(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.step();
  return world;
}

function setStatus(world: OperatorWorld, fields: EtcdClusterStatus): void {
  world.kube.mutate(world.resource, object => {
    object['status'] = { ...(object['status'] as object), ...fields };
  });
}

const uidOf = (world: OperatorWorld, kind: 'pod' | 'claim', name: string): string =>
  world.kube.peek(world[kind](name))?.metadata.uid ?? '';

/** Everything but the resource itself, with uids: what no refused step may have changed. */
const everything = (world: OperatorWorld): unknown[] =>
  ['Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'].flatMap(kind => world.kube.all(kind));

async function expectRefused(world: OperatorWorld, step: Step, message: string): Promise<void> {
  const before = everything(world);
  await expect(world.perform(step)).rejects.toMatchObject({
    name: 'ApplicationFailure',
    type: 'PreconditionChanged',
    nonRetryable: true,
    message,
  });
  expect(everything(world)).toEqual(before);
}

const BOOTSTRAP: Step = { kind: 'bootstrapMembers', token: OTHER, members: MEMBERS, version: '3.6.16' };
const OPEN: Step = { kind: 'ensureObjects', objects: ['clientService'] };

describe('every step for a living cluster is refused when the resource', () => {
  const [record] = CREATION;
  const steps = (world: OperatorWorld): Step[] => [
    ...(record === undefined ? [] : [record]),
    BOOTSTRAP,
    { kind: 'awaitQuorum', token: OTHER, members: MEMBERS },
    { kind: 'recordClusterId', token: OTHER, elected: { clusterId: 'c0ffee', members: [] } },
    OPEN,
    {
      kind: 'restartMember',
      token: OTHER,
      member: 'example-1',
      claimUid: uidOf(world, 'claim', 'example-1'),
    },
  ];

  it.each([
    ['is gone', vanish],
    ['is another one of the same name', replaced],
  ])('%s', async (_, move) => {
    const world = await living();
    const planned = steps(world);
    await move(world);
    for (const step of planned) await expectRefused(world, step, 'EtcdCluster shop/example is gone');
  });

  it('is being deleted', async () => {
    const world = await living();
    const planned = steps(world);
    await world.deleteCluster();
    for (const step of planned) await expectRefused(world, step, 'EtcdCluster shop/example is being deleted');
  });
});

describe('the identity of a cluster', () => {
  it('is not recorded over another one', async () => {
    const world = await recorded();
    const token = world.cluster.status.incarnation?.token ?? '';
    const [record] = CREATION;
    if (record === undefined) throw new Error('no step');
    await expectRefused(world, record, `incarnation ${token} is already recorded`);
    expect(world.cluster.status.incarnation?.token).toBe(token);
  });

  it('is not recorded as that of a new one by a step that was planned before the cluster lived', async () => {
    const world = new OperatorWorld();
    const { decision } = await world.look();
    if (decision.kind !== 'operate') throw new Error(`nothing to do: ${decision.kind}`);
    const record = decision.step;
    expect(record.kind).toBe('recordIncarnation');
    await world.run();
    const { clusterID } = world.cluster.status;
    world.kube.mutate(world.resource, object => void (object['status'] = {}));
    await expectRefused(
      world,
      record,
      `cluster ${clusterID} has lived under this name: no empty one is recorded in its place`,
    );
    expect(world.cluster.status.incarnation).toBeUndefined();
  });

  it('decides whether members may bootstrap', async () => {
    const world = await recorded();
    const token = world.cluster.status.incarnation?.token ?? '';
    const step = { ...BOOTSTRAP, token };
    await expectRefused(world, BOOTSTRAP, `incarnation ${OTHER} is not the recorded incarnation`);
    await expectRefused(
      world,
      { ...step, members: ['example-7'] },
      `example-7 is not a member of incarnation ${token}`,
    );
    setStatus(world, { clusterID: 'c0ffee' });
    await expectRefused(world, step, 'cluster id c0ffee is already recorded: no member is bootstrapped');
    expect(world.names('Pod')).toEqual([]);
  });

  it('decides whether the client Service opens', async () => {
    const world = await recorded();
    await expectRefused(world, OPEN, 'no cluster id is recorded: the client Service is not created');
  });

  it('is only recorded as a quorum reports it now', async () => {
    const world = await living();
    const { incarnation, clusterID } = world.cluster.status;
    const step = {
      kind: 'recordClusterId',
      token: incarnation?.token ?? '',
      elected: { clusterId: clusterID ?? '', members: [] },
    } as const;
    const beef = { clusterId: 'beef', members: [] };
    await world.perform(step);
    await expectRefused(
      world,
      { ...step, elected: beef },
      'the recorded identity has changed since beef was planned',
    );
    world.kube.mutate(world.resource, object => {
      delete (object['status'] as { clusterID?: string }).clusterID;
    });
    await expectRefused(world, { ...step, elected: beef }, 'no quorum of cluster beef answers');
    await expectRefused(
      world,
      { ...step, token: OTHER },
      `the recorded identity has changed since ${clusterID} was planned`,
    );
    world.etcd.set('10.0.0.1', 'isolated');
    world.etcd.set('10.0.0.2', 'isolated');
    world.kubelet.settle();
    await expectRefused(world, step, `no quorum of cluster ${clusterID} answers`);
    expect(world.cluster.status.clusterID).toBeUndefined();
  });
});

describe('a member is only started again', () => {
  async function scenario(): Promise<{
    world: OperatorWorld;
    step: Extract<Step, { kind: 'restartMember' }>;
  }> {
    const world = await living();
    const token = world.cluster.status.incarnation?.token ?? '';
    const claimUid = uidOf(world, 'claim', 'example-1');
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    return { world, step: { kind: 'restartMember', token, member: 'example-1', claimUid } };
  }
  const refusal = 'claim example-1 is not the claim that the member used';

  it('on the very claim that it had', async () => {
    const { world, step } = await scenario();
    await expectRefused(world, { ...step, claimUid: 'another' }, refusal);
    world.kube.mutate(world.claim('example-1'), object => {
      object.metadata.finalizers = ['kubernetes.io/pvc-protection'];
    });
    await world.kube.as('kubectl').delete(world.claim('example-1'));
    await expectRefused(world, step, refusal);
    world.kube.finishDeletion(world.claim('example-1'));
    await expectRefused(world, step, refusal);
  });

  it('in its own incarnation, with the cluster id recorded', async () => {
    const { world, step } = await scenario();
    await expectRefused(
      world,
      { ...step, token: OTHER },
      `incarnation ${OTHER} is not the recorded incarnation`,
    );
    world.kube.mutate(world.resource, object => {
      delete (object['status'] as { clusterID?: string }).clusterID;
    });
    await expectRefused(world, step, `incarnation ${step.token} is not the recorded incarnation`);
  });

  it('in the version that the cluster runs, whatever the specification asks for', async () => {
    const { world, step } = await scenario();
    await world.kube.as('kubectl').patch(world.resource, { spec: { version: '3.6.99' } }, { type: 'merge' });
    await world.perform(step);
    const pod = world.kube.peek(world.pod('example-1'));
    expect(pod?.metadata.annotations?.['etcd.version']).toBe('3.6.16');
    expect(JSON.stringify(pod)).toContain('etcd:v3.6.16');
  });
});

describe('an object that stands under the name of ours', () => {
  const foreign = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'example-1', namespace: 'shop' },
    spec: { mine: 1 },
  };

  it.each([
    ['a pod', foreign],
    ['a claim', { ...foreign, kind: 'PersistentVolumeClaim' }],
    ['a Service', { ...foreign, kind: 'Service', metadata: { name: 'example', namespace: 'shop' } }],
  ])('and is %s of another owner is never touched', async (_, object) => {
    const world = await recorded();
    const [stored] = world.kube.seed(object);
    const { kind, metadata } = object;
    const token = world.cluster.status.incarnation?.token ?? '';
    await expect(world.perform({ ...BOOTSTRAP, token })).rejects.toMatchObject({
      type: 'PreconditionChanged',
      message: `${kind} shop/${metadata.name} exists and is not owned by this EtcdCluster; delete or rename it`,
    });
    expect(world.kube.peek({ ...object, ...metadata })).toEqual(stored);
  });

  it('and is a copy of our pod, token and all, is not taken for ours', async () => {
    const world = await living();
    const copy = world.kube.peek(world.pod('example-1'));
    if (copy === undefined) throw new Error('no pod');
    const token = copy.metadata.annotations?.['etcd.database.coreos.com/incarnation'] ?? '';
    const claimUid = uidOf(world, 'claim', 'example-1');
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    const { name, namespace = '', labels = {}, annotations = {} } = copy.metadata;
    world.kube.seed({ ...copy, metadata: { name, namespace, labels, annotations } });
    await expectRefused(
      world,
      { kind: 'restartMember', token, member: 'example-1', claimUid },
      'Pod shop/example-1 exists and is not owned by this EtcdCluster; delete or rename it',
    );
  });

  it('of a member, that was evicted, is deleted and created again', async () => {
    const world = await living();
    const evicted = world.kube.peek(world.pod('example-1'));
    if (evicted === undefined) throw new Error('no pod');
    world.kube.seed({ ...evicted, status: { phase: 'Failed', reason: 'Evicted' } });
    const token = world.cluster.status.incarnation?.token ?? '';
    const claimUid = uidOf(world, 'claim', 'example-1');
    const step = { kind: 'restartMember', token, member: 'example-1', claimUid } as const;
    // Fails for as long as its kubelet takes.
    await expect(world.perform(step)).rejects.toMatchObject({
      type: 'PreconditionChanged',
      message: 'Pod example-1 had ended and is being deleted',
    });
    world.kubelet.settle();
    await world.perform(step);
    expect(uidOf(world, 'pod', 'example-1')).not.toBe(evicted.metadata.uid);
  });

  it('and is being deleted is waited for', async () => {
    const world = await living();
    world.kubelet.asleep = true;
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    const token = world.cluster.status.incarnation?.token ?? '';
    const claimUid = uidOf(world, 'claim', 'example-1');
    await expectRefused(
      world,
      { kind: 'restartMember', token, member: 'example-1', claimUid },
      'Pod example-1 is being deleted',
    );
  });
});

describe('the steps of a deletion', () => {
  const pods = (world: OperatorWorld): Step => ({
    kind: 'deletePods',
    pods: MEMBERS.map(name => ({ name, uid: uidOf(world, 'pod', name) })),
  });
  const claims = (world: OperatorWorld): Step => ({
    kind: 'releaseClaims',
    claims: MEMBERS.map(name => ({ name, uid: uidOf(world, 'claim', name) })),
  });

  it('are refused while the resource is not being deleted', async () => {
    const world = await living();
    for (const step of [pods(world), claims(world), { kind: 'removeFinalizer' } as const]) {
      await expectRefused(world, step, 'the resource is not being deleted');
    }
    expect(world.cluster.metadata.finalizers).toEqual(['etcd.database.coreos.com/operator']);
  });

  it('delete no pod but the very one that was planned', async () => {
    const world = await living();
    const step = pods(world);
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    const [stranger] = world.kube.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'example-1', namespace: 'shop' },
    });
    await world.deleteCluster();
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(world.kube.peek(world.pod('example-1'))).toEqual(stranger);
  });

  it('delete no claim but the very one that was planned, and none that is to be retained', async () => {
    const world = await living();
    const step = claims(world);
    await world.deleteCluster();
    await world.kube.as('kubectl').delete(world.claim('example-1'));
    world.kube.seed({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'example-1', namespace: 'shop' },
    });
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(world.names('PersistentVolumeClaim')).toContain('example-1');
    await world.kube
      .as('kubectl')
      .patch(world.resource, { spec: { storage: { retain: 'Retain' } } }, { type: 'merge' });
    await expectRefused(world, step, 'spec.storage.retain is Retain: claims are kept');
  });

  it('remove the finalizer only without pods, and only our hold on it', async () => {
    const world = await living();
    world.kube.mutate(world.resource, object => object.metadata.finalizers?.push('example.com/other'));
    await world.deleteCluster();
    await expectRefused(world, { kind: 'removeFinalizer' }, 'pods are left: example-0, example-1, example-2');
    await world.perform(pods(world));
    await world.perform({ kind: 'removeFinalizer' });
    expect(world.cluster.metadata.finalizers).toEqual(['example.com/other']);
    await world.perform({ kind: 'removeFinalizer' });
  });

  it('of a cluster that is gone already are done', async () => {
    const world = await living();
    await vanish(world);
    await world.perform({ kind: 'removeFinalizer' });
  });
});

describe('whether an object is ours', () => {
  const owned = (ownerReferences: object[]) =>
    ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', ownerReferences } }) as never;

  it.each([
    ['controlled by our uid', [{ uid: 'u', controller: true }], true],
    ['owned and not controlled', [{ uid: 'u' }], false],
    ['controlled by another', [{ uid: 'v', controller: true }], false],
    ['owned by nobody', [], false],
  ])('%s', (_, references, expected) => {
    expect(isControlledBy(owned(references), 'u')).toBe(expected);
  });
});
