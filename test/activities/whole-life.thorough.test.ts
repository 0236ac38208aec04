/** Creation, repair and deletion from end to end on a world in memory, with the operator killed at every API call. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import { ANNOTATION_DATA_VERSION, memberName } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 240_000 };
const VERSION = '3.6.16';
const IMAGE = `gcr.io/etcd-development/etcd:v${VERSION}`;

function membersOf(size: number): string[] {
  return Array.from({ length: size }, (_, serial) => memberName('example', serial));
}

/** Exactly the cluster that was asked for: no other pod, claim, member or etcd cluster. */
function expectWhole(world: OperatorWorld, size: number): void {
  const members = membersOf(size);
  const { status } = world.cluster;
  expect(world.names('Pod')).toEqual(members);
  expect(world.names('PersistentVolumeClaim')).toEqual(members);
  expect(world.names('Service')).toEqual(['example', 'example-client']);
  expect(world.names('PodDisruptionBudget')).toEqual(['example']);
  expect(world.etcd.clusters).toHaveLength(1);
  const [etcd] = world.etcd.clusters;
  const rows = etcd?.rows.map(({ name, isLearner, clientUrls }) => ({
    name,
    isLearner,
    urls: clientUrls.length,
  }));
  expect(rows).toEqual(members.map(name => ({ name, isLearner: false, urls: 1 })));
  expect(status).toMatchObject({ clusterID: etcd?.id, phase: 'Running', ready: `${size}/${size}` });
  expect(status.members?.ready).toEqual(members);
  expect(status.members?.details?.map(detail => detail.health)).toEqual(members.map(() => 'Healthy'));
  const pods = world.kube.all('Pod').map(pod => podFacts(pod, world.ref.uid));
  expect(pods.filter(pod => pod.firstStart !== 'sealed')).toEqual([]);
  expect(world.etcd.open).toBe(0);
}

async function created(spec: EtcdClusterSpec = { size: 3, version: VERSION }): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec });
  const { decision } = await world.run();
  expect(decision).toEqual({ kind: 'idle', nextPassSeconds: 43_200 });
  return world;
}

describe('creation', () => {
  it.each([1, 2, 3, 5, 7])('of %i members ends with all of them ready', async size => {
    const world = await created({ size, version: VERSION });
    // One more pass, because members become ready after the pass that saw the first read go through.
    await world.run();
    expectWhole(world, size);
  });

  it('bootstraps each member exactly once, knowing of all others', async () => {
    const world = await created();
    expect(world.kubelet.starts.map(start => start.pod)).toEqual(membersOf(3));
    for (const { args, failure } of world.kubelet.starts) {
      expect(failure).toBeUndefined();
      expect(args).toContain('--initial-cluster-state=new');
      const initial = membersOf(3).map(name => `${name}=http://${name}.example.shop.svc:2380`);
      expect(args).toContain(`--initial-cluster=${initial.join(',')}`);
    }
  });

  it('killed at any API call ends with the same members and no others', LONG, async () => {
    const { calls } = await created();
    expect(calls).toBeGreaterThan(40);
    for (let at = 1; at <= calls; at += 1) {
      const world = new OperatorWorld();
      world.kill({ at });
      await world.run();
      await world.run();
      expectWhole(world, 3);
    }
  });

  it('killed while its calls are on the wire ends with the same members and no others', LONG, async () => {
    const { calls } = await created();
    const kills = fc.record({ at: fc.integer({ min: 1, max: calls }), mask: fc.nat() });
    await fc.assert(
      fc.asyncProperty(kills, async ({ at, mask }) => {
        const world = new OperatorWorld();
        world.kill({ at, arrives: call => ((mask >> ((call - at) % 31)) & 1) === 1 });
        await world.run();
        await world.run();
        expectWhole(world, 3);
      }),
      { numRuns: 60 },
    );
  });

  it('killed with one pod made leaves the others to be bootstrapped, not restarted on nothing', async () => {
    const world = new OperatorWorld();
    // Two of three pods arrive: they form a quorum before a new process looks.
    const powerCut = world.kube.intercept(call => {
      if (call.verb === 'create' && call.name === 'example-2' && call.kind === 'Pod')
        throw new Error('power cut');
    });
    await world.step();
    await expect(world.step()).rejects.toThrow('power cut');
    powerCut();
    expect(world.names('Pod')).toEqual(['example-0', 'example-1']);
    world.kubelet.settle();
    expect(world.etcd.clusters[0]?.hasQuorum).toBe(true);
    const resumed = await world.look();
    expect(resumed.decision).toMatchObject({
      operation: 'createCluster',
      step: { kind: 'bootstrapMembers', members: ['example-2'] },
    });
    await world.run();
    await world.run();
    expectWhole(world, 3);
  });

  it('says which members do not start, and continues by itself when they can', async () => {
    const world = new OperatorWorld();
    for (const name of membersOf(3)) world.kubelet.stuck.set(name, 'ImagePullBackOff');
    const { decision } = await world.run();
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'MembersNotStarting',
      message: membersOf(3)
        .map(name => `${name}: ImagePullBackOff (the image ${IMAGE} cannot be pulled)`)
        .join('; '),
    });
    world.kubelet.stuck.clear();
    await world.run();
    await world.run();
    expectWhole(world, 3);
  });

  it('without a default StorageClass makes members without claims, and says so', async () => {
    const world = new OperatorWorld({ storageClass: false });
    await world.run();
    expect(world.names('Pod')).toEqual(membersOf(3));
    expect(world.names('PersistentVolumeClaim')).toEqual([]);
    expect(world.cluster.status.storage).toEqual({ kind: 'EmptyDir', decidedBy: 'NoDefaultStorageClass' });
  });

  it('begins above the claims that an earlier cluster of this name left', async () => {
    const world = new OperatorWorld();
    world.kube.seed({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'example-4', namespace: 'shop' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await world.run();
    expect(world.names('Pod')).toEqual(['example-5', 'example-6', 'example-7']);
    expect(world.cluster.status.lastSerial).toBe(7);
  });
});

describe('deletion', () => {
  async function deleted(spec: EtcdClusterSpec, at?: number): Promise<OperatorWorld> {
    const world = await created(spec);
    await world.deleteCluster();
    if (at !== undefined) world.kill({ at: world.calls + at });
    expect((await world.run()).decision).toEqual({ kind: 'gone' });
    return world;
  }
  const left = (world: OperatorWorld) =>
    ['EtcdCluster', 'Pod', 'Service', 'PodDisruptionBudget', 'PersistentVolumeClaim'].flatMap(kind =>
      world.names(kind),
    );

  it('leaves nothing behind', async () => {
    const world = await deleted({ size: 3, version: VERSION });
    expect(left(world)).toEqual([]);
    expect(() => world.cluster).toThrow('is gone');
  });

  it('leaves the claims behind when storage.retain says Retain', async () => {
    const world = await deleted({ size: 3, version: VERSION, storage: { retain: 'Retain' } });
    expect(left(world)).toEqual(membersOf(3));
  });

  it.each(['Delete', 'Retain'] as const)('killed at any API call ends the same (%s)', LONG, async retain => {
    const spec = { size: 3, version: VERSION, storage: { retain } };
    const undisturbed = await created(spec);
    const before = undisturbed.calls;
    await undisturbed.deleteCluster();
    await undisturbed.run();
    for (let at = 1; at <= undisturbed.calls - before; at += 1) {
      expect(left(await deleted(spec, at))).toEqual(retain === 'Retain' ? membersOf(3) : []);
    }
  });

  it('in the middle of creation leaves nothing behind', LONG, async () => {
    const { calls } = await created();
    for (let at = 1; at <= calls; at += 3) {
      const world = new OperatorWorld();
      world.kill({ at });
      // Whatever had been made by then, until the process died.
      await world.runUntilKilled();
      await world.deleteCluster();
      await world.run();
      expect(left(world)).toEqual([]);
    }
  });

  it('waits for pods that take their time, and keeps the resource until then', async () => {
    const world = await created();
    await world.deleteCluster();
    const { decision } = await world.look();
    expect(decision).toMatchObject({
      operation: 'deleteCluster',
      step: { kind: 'deletePods', pods: membersOf(3).map(name => ({ name })) },
    });
    await expect(world.perform({ kind: 'removeFinalizer' })).rejects.toMatchObject({
      type: 'PreconditionChanged',
      message: 'pods are left: example-0, example-1, example-2',
    });
    expect(world.cluster.metadata.finalizers).toEqual(['etcd.database.coreos.com/operator']);
  });
});

describe('repair', () => {
  it('starts members again on their volumes, also when all were lost at once', async () => {
    const world = await created();
    const [{ id = '', revision = 0 } = {}] = world.etcd.clusters;
    for (const name of membersOf(3)) await world.kube.as('kubectl').delete(world.pod(name));
    await world.run();
    await world.run();
    expectWhole(world, 3);
    expect(world.etcd.clusters[0]).toMatchObject({ id, revision });
    for (const { args, failure } of world.kubelet.starts.slice(3)) {
      expect(failure).toBeUndefined();
      expect(args).toContain('--initial-cluster-state=existing');
    }
  });

  it('puts back Services and budget that someone deleted', async () => {
    const world = await created();
    const kubectl = world.kube.as('kubectl');
    const { namespace, name } = world.ref;
    await kubectl.delete({ apiVersion: 'v1', kind: 'Service', namespace, name });
    await kubectl.delete({ apiVersion: 'v1', kind: 'Service', namespace, name: `${name}-client` });
    await kubectl.delete({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace, name });
    await world.run();
    await world.run();
    expectWhole(world, 3);
  });

  it('never starts a member on a volume that was emptied: etcd refuses, and a new member takes its place', async () => {
    const world = await created();
    const claim = world.kube.peek(world.claim('example-1'));
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    world.etcd.wipe(claim?.metadata.uid ?? '');
    await world.run();
    const refused = world.kubelet.starts.find(start => start.failure !== undefined);
    expect(refused).toMatchObject({ pod: 'example-1' });
    expect(refused?.failure).toContain('cannot fetch cluster info');
    expect(world.etcd.clusters).toHaveLength(1);
    expect(world.cluster.status.replacements).toMatchObject([
      { member: 'example-1', reason: 'etcd found the volume empty', replacedBy: 'example-3' },
    ]);
  });

  it('never makes a new claim for a member whose claim is gone', async () => {
    const world = await created();
    await world.kube.as('kubectl').delete(world.claim('example-1'));
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    await world.run();
    expect(world.names('PersistentVolumeClaim')).toEqual(['example-0', 'example-2', 'example-3']);
    expect(world.names('Pod')).toEqual(['example-0', 'example-2', 'example-3']);
  });

  it('records a lost status again from the stamps, and touches no pod', async () => {
    const world = await created();
    await world.run();
    const { incarnation, clusterID, lastSerial } = world.cluster.status;
    const uids = world.kube.all('Pod').map(pod => pod.metadata.uid);
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ clusterID, lastSerial });
    expect(world.cluster.status.incarnation).toMatchObject({
      token: incarnation?.token,
      members: incarnation?.members,
    });
    expect(world.kube.all('Pod').map(pod => pod.metadata.uid)).toEqual(uids);
    expectWhole(world, 3);
  });

  it('takes claims whose labels a user took off for what they are, also when the status is lost', async () => {
    const world = await created();
    for (const name of membersOf(3))
      world.kube.mutate(world.claim(name), object => void delete object.metadata.labels);
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.run();
    expect(world.cluster.status.storage?.kind).toBe('PersistentVolumeClaim');
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    await world.run();
    await world.run();
    expect(world.names('Pod')).toEqual(membersOf(3));
    expect(world.cluster.status.replacements).toBeUndefined();
  });

  it('records a lost status again also while every member is down', async () => {
    const world = await created();
    const { clusterID } = world.cluster.status;
    for (const name of membersOf(3)) await world.kube.as('kubectl').delete(world.pod(name));
    world.kubelet.settle();
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.run();
    await world.run();
    expect(world.cluster.status.clusterID).toBe(clusterID);
    expectWhole(world, 3);
  });

  it('records a cluster id that only a quorum reported where a status that is lost again does not take it along', async () => {
    const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16' } });
    for (let at = (await world.step()).decision; ; at = (await world.step()).decision) {
      world.kubelet.settle();
      if (at.kind === 'operate' && at.step.kind === 'bootstrapMembers') break;
    }
    const lose = () => world.kube.mutate(world.resource, object => void delete object['status']);
    lose();
    await world.run();
    await world.run();
    expectWhole(world, 3);
    for (const name of membersOf(3)) await world.kube.as('kubectl').delete(world.pod(name));
    world.kubelet.settle();
    lose();
    // Which cluster it is is known; what ran on the claims nobody can read any more, and a person says it.
    for (const name of membersOf(3))
      world.kube.mutate(
        world.claim(name),
        ({ metadata }) => void delete metadata.annotations?.[ANNOTATION_DATA_VERSION],
      );
    expect((await world.run()).decision).toMatchObject({ reason: 'VersionUnknown' });
    for (const name of membersOf(3))
      world.kube.mutate(world.claim(name), ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, [ANNOTATION_DATA_VERSION]: '3.6.16' };
      });
    await world.run();
    await world.run();
    expectWhole(world, 3);
  });

  it('never takes volumes for lost whose claims have no labels, while every member is down and no status names them', async () => {
    const world = await created();
    for (const name of membersOf(3)) {
      world.kube.mutate(world.claim(name), object => void delete object.metadata.labels);
      await world.kube.as('kubectl').delete(world.pod(name));
    }
    world.kubelet.settle();
    world.kube.mutate(world.resource, object => void delete object['status']);
    expect((await world.step()).decision).toMatchObject({ step: { kind: 'recordIncarnation' } });
    expect((await world.look()).decision).toMatchObject({ step: { kind: 'restartMember' } });
    await world.run();
    expectWhole(world, 3);
  });
});
