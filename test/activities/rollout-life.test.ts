/** Rollouts, edited objects and growing volumes from end to end on a world in memory. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_RENDERED, ANNOTATION_STORAGE_SIZE } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { condition, edit, watchDeletions } from '../worlds/living-cluster.ts';
import { etcdOf } from '../fakes/kubernetes/container-arguments.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };
const SPEC: EtcdClusterSpec = { size: 3, version: '3.6.16' };
const MEMBERS = ['example-0', 'example-1', 'example-2'];

async function created(spec: EtcdClusterSpec = {}, storageClass = true): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { ...SPEC, ...spec }, storageClass });
  await world.run();
  await world.run();
  // Nobody waits for a cluster that has been quiet for a minute.
  world.now += 60_000;
  return world;
}

function uids(world: OperatorWorld, kind = 'Pod'): (string | undefined)[] {
  return world.kube.all(kind).map(object => object.metadata.uid);
}

function argsOf(pod: KubeObject): readonly string[] {
  return etcdOf(pod)?.args ?? [];
}

function expectRolled(world: OperatorWorld, argument: string): void {
  expect(world.names('Pod')).toEqual(MEMBERS);
  for (const pod of world.kube.all('Pod')) expect(argsOf(pod)).toContain(argument);
  expect(world.cluster.status).toMatchObject({ ready: '3/3', phase: 'Running' });
  expect(condition(world, 'Healthy')?.status).toBe('True');
  expect(world.etcd.clusters).toHaveLength(1);
  expect(world.etcd.clusters[0]?.rows).toHaveLength(3);
}

describe('a changed specification', LONG, () => {
  it('reaches one member at a time, the leader last and after it handed over', async () => {
    const world = await created();
    const before = { pods: uids(world), claims: uids(world, 'PersistentVolumeClaim') };
    const [etcd] = world.etcd.clusters;
    const leader = etcd?.rows.find(row => row.id === etcd.leaderId)?.name;
    const deletions = watchDeletions(world);
    await edit(world, { etcd: { snapshotCount: 20_000 } });
    await world.run();
    await world.run();
    expectRolled(world, '--snapshot-count=20000');
    expect(deletions).toHaveLength(3);
    expect(deletions.map(({ serving }) => serving)).toEqual([3, 3, 3]);
    expect(deletions.map(({ leads }) => leads)).toEqual([false, false, false]);
    expect(deletions.at(-1)?.name).toBe(leader);
    expect(uids(world).filter(uid => before.pods.includes(uid))).toEqual([]);
    expect(uids(world, 'PersistentVolumeClaim')).toEqual(before.claims);
    expect(world.etcd.clusters[0]?.id).toBe(etcd?.id);
    const reported = world.events
      .filter(event => event.reason === 'MemberStopped')
      .map(event => event.message);
    expect(reported.toSorted()).toEqual(
      MEMBERS.map(name => `stopped ${name}: argument --snapshot-count added`),
    );
    expect(world.cluster.status.lastOperation).toMatchObject({
      type: 'rolloutCluster',
      outcome: 'Succeeded',
    });
  });

  it('says in its plan what causes it, and what comes', async () => {
    const world = await created();
    await edit(world, { pod: { resources: { requests: { cpu: '100m' } } } });
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'operate', operation: 'rolloutCluster' });
    if (decision.kind !== 'operate') throw new Error('not reached');
    const [etcd] = world.etcd.clusters;
    const leader = etcd?.rows.find(row => row.id === etcd.leaderId)?.name ?? '';
    const [first = '', second = ''] = MEMBERS.filter(name => name !== leader);
    const change = 'spec.containers[0].resources added';
    expect(decision.plan.map(step => step.summary)).toEqual([
      expect.stringMatching(/^compare the data of example-0, example-1, example-2 /),
      `stop ${first}: ${change}`,
      `start ${first} again on its volume`,
      `wait until ${first} are ready`,
      `stop ${second}: ${change}`,
      `start ${second} again on its volume`,
      `wait until ${second} are ready`,
      expect.stringMatching(`move the leadership from ${leader} to `),
      `stop ${leader}: ${change}`,
      `start ${leader} again on its volume`,
      `wait until ${leader} are ready`,
    ]);
    expect(condition(world, 'Progressing')).toMatchObject({ status: 'True', reason: 'RollingOut' });
  });

  it('waits while a member is not well, and continues when it is', async () => {
    const world = await created();
    const host = (world.kube.peek(world.pod('example-2'))!['status'] as { podIP: string }).podIP;
    world.etcd.set(host, 'isolated');
    const before = uids(world);
    await edit(world, { etcd: { logLevel: 'warn' } });
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
    expect(uids(world)).toEqual(before);
    world.etcd.set(host, 'running');
    await world.run();
    await world.run();
    expectRolled(world, '--log-level=warn');
  });

  it('stops no member when the world moved between plan and step', async () => {
    const world = await created();
    await edit(world, { etcd: { logLevel: 'warn' } });
    const { decision } = await world.lookCompared();
    if (decision.kind !== 'operate' || decision.step.kind !== 'stopMember') throw new Error('not a rollout');
    const { step } = decision;
    const other = MEMBERS.find(name => name !== step.member) ?? '';
    const host = (world.kube.peek(world.pod(other))!['status'] as { podIP: string }).podIP;
    const before = uids(world);
    world.etcd.set(host, 'isolated');
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    world.etcd.set(host, 'running');
    await edit(world, { etcd: { logLevel: 'info' } });
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    const handOver = { kind: 'moveLeader', from: step.member, to: other, toId: 'a' } as const;
    await expect(world.perform(handOver)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(uids(world)).toEqual(before);
    // One that is gone already, or was created again, is nothing to do.
    await world.perform({ ...step, uid: 'another' });
    expect(uids(world)).toEqual(before);
  });

  it('stops no member while another member is being evicted, and lets no member be evicted once it stops one', async () => {
    const world = await created();
    await edit(world, { etcd: { snapshotCount: 20_000 } });
    const step = await world.runUntil('stopMember');
    const other = MEMBERS.find(name => name !== step.member) ?? '';
    const budget = { ...world.pod('example'), apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
    world.kube.mutate(budget, object => {
      object['status'] = { disruptedPods: { [other]: '2026-11-21T10:00:00Z' } };
    });
    await expect(world.perform(step)).rejects.toMatchObject({
      type: 'PreconditionChanged',
      message: `pod ${other} is being evicted`,
    });
    expect(world.names('Pod')).toEqual(MEMBERS);
    world.kube.mutate(budget, object => {
      object['status'] = { disruptedPods: {} };
    });
    const kept: unknown[] = [];
    world.kube.intercept(call => {
      if (call.verb !== 'delete' || call.kind !== 'Pod') return;
      kept.push(world.kube.all('PodDisruptionBudget').map(object => object['spec']));
    });
    await world.perform(step);
    expect(kept).toEqual([[expect.objectContaining({ minAvailable: 3 })]]);
  });

  it('halts at the first member that does not come up, and fixes that one first', async () => {
    const world = await created();
    await edit(world, { pod: { resources: { requests: { cpu: '1k' } } } });
    const { decision: planned } = await world.lookCompared();
    if (planned.kind !== 'operate' || planned.step.kind !== 'stopMember') throw new Error('not a rollout');
    const first = planned.step.member;
    world.kubelet.stuck.set(first, 'Unschedulable');
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
    expect(world.cluster.status.operation).toMatchObject({ type: 'rolloutCluster' });
    expect(condition(world, 'Available')?.status).toBe('True');
    expect(world.kube.all('Pod').filter(pod => argsOf(pod).length > 0)).toHaveLength(3);
    expect(world.events.filter(event => event.reason === 'MemberStopped')).toHaveLength(1);
    await edit(world, { pod: { resources: { requests: { cpu: '100m' } } } });
    const { decision: mending } = await world.look();
    expect(mending).toMatchObject({ kind: 'operate', step: { kind: 'stopMember', member: first } });
    world.kubelet.stuck.clear();
    await world.run();
    await world.run();
    expectRolled(world, '--log-level=info');
    for (const pod of world.kube.all('Pod')) {
      expect(etcdOf(pod)).toMatchObject({
        resources: { requests: { cpu: '100m' } },
      });
    }
  });

  it('never deletes pods that hold the only copy of their data', async () => {
    const world = await created({ storage: { emptyDir: {} } });
    const before = uids(world);
    await edit(world, { etcd: { logLevel: 'warn' } });
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'EphemeralMembers' });
    expect(decision.kind === 'blocked' && decision.message).toContain('argument --log-level changed is not');
    expect(uids(world)).toEqual(before);
  });

  it('leaves pods alone that do not say what they were made of', async () => {
    const world = await created();
    for (const name of MEMBERS) {
      world.kube.mutate(
        world.pod(name),
        ({ metadata }) => void delete metadata.annotations?.[ANNOTATION_RENDERED],
      );
    }
    const before = uids(world);
    await edit(world, { etcd: { logLevel: 'warn' } });
    expect((await world.run()).decision.kind).toBe('idle');
    expect(uids(world)).toEqual(before);
  });

  it('reaches a cluster of one', async () => {
    const world = await created({ size: 1 });
    await edit(world, { etcd: { logLevel: 'warn' } });
    await world.run();
    await world.run();
    expect(argsOf(world.kube.all('Pod')[0] as KubeObject)).toContain('--log-level=warn');
    expect(condition(world, 'Healthy')?.status).toBe('True');
  });

  it('that raises the quota reaches members that are out of space', async () => {
    const world = await created();
    const alarm = (alarms: string[]) => {
      for (const process of world.etcd.clusters[0]?.processes ?? [])
        Object.assign(process, { alarms: [...alarms], dbSize: 2 ** 31 });
    };
    alarm(['memberID:1 alarm:NOSPACE ']);
    await edit(world, { etcd: { logLevel: 'warn' } });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'DatabaseFull' });
    await edit(world, { etcd: { quotaBackendBytes: '4Gi' } });
    expect((await world.lookCompared()).decision).toMatchObject({
      kind: 'operate',
      step: { kind: 'stopMember', because: expect.stringContaining('argument --quota-backend-bytes') },
    });
  });
});

describe('objects that a user edited', LONG, () => {
  const service = (name: string) => ({ apiVersion: 'v1', kind: 'Service', namespace: 'shop', name });
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'shop', name: 'example' };

  it('get back what is ours, and keep what is not', async () => {
    const world = await created();
    const kubectl = world.kube.as('kubectl');
    const uid = world.kube.peek(service('example-client'))?.metadata.uid;
    await kubectl.patch(
      service('example-client'),
      {
        metadata: { labels: { app: 'other', team: 'x' }, annotations: { note: 'theirs' } },
        spec: { type: 'NodePort', selector: { app: 'elsewhere' }, sessionAffinity: 'ClientIP' },
      },
      { type: 'merge' },
    );
    await kubectl.patch(budget, { spec: { minAvailable: 0 } }, { type: 'merge' });
    const { decision } = await world.look();
    expect(decision).toMatchObject({
      operation: 'repairCluster',
      step: {
        kind: 'applyObjects',
        objects: [
          { object: 'clientService', because: 'spec.type changed' },
          { object: 'disruptionBudget', because: 'spec.minAvailable changed' },
        ],
      },
    });
    expect((await world.run()).decision.kind).toBe('idle');
    const reported = world.events
      .filter(({ reason }) => reason === 'ObjectPutBack')
      .map(each => each.message);
    expect(reported).toContain('restored PodDisruptionBudget example: spec.minAvailable changed');
    expect(world.kube.peek(service('example-client'))).toMatchObject({
      metadata: { uid, labels: { app: 'etcd', team: 'x' }, annotations: { note: 'theirs' } },
      spec: {
        type: 'ClusterIP',
        selector: { app: 'etcd', etcd_cluster: 'example' },
        sessionAffinity: 'ClientIP',
      },
    });
    expect(world.kube.peek(budget)?.['spec']).toEqual({
      minAvailable: 2,
      selector: { matchLabels: { app: 'etcd', etcd_cluster: 'example' } },
    });
    expect(world.events.map(event => event.message)).toContain(
      'restored Service example-client: spec.type changed',
    );
  });

  it('that are not ours are never written to', async () => {
    const world = await created();
    const objects = [{ object: 'clientService', because: 'spec.type changed' }] as const;
    world.kube.mutate(service('example-client'), ({ metadata }) => void delete metadata.ownerReferences);
    const before = world.kube.peek(service('example-client'));
    await expect(world.perform({ kind: 'applyObjects', objects })).rejects.toMatchObject({
      type: 'PreconditionChanged',
    });
    expect(world.kube.peek(service('example-client'))).toEqual(before);
  });

  it('put back twice is the same as once', async () => {
    const world = await created();
    const objects = [{ object: 'clientService', because: 'spec.type changed' }] as const;
    await world.kube
      .as('kubectl')
      .patch(service('example-client'), { spec: { type: 'NodePort' } }, { type: 'merge' });
    await world.perform({ kind: 'applyObjects', objects });
    const once = world.kube.peek(service('example-client'));
    await world.perform({ kind: 'applyObjects', objects });
    expect(world.kube.peek(service('example-client'))).toEqual(once);
  });

  it('follow the specification, also when it asks for less', async () => {
    const world = await created({
      service: { annotations: { 'example.com/a': '1' }, trafficDistribution: 'PreferClose' },
    });
    await edit(world, {
      service: { annotations: { 'example.com/a': null as unknown as string, 'example.com/b': '2' } },
    });
    await world.kube
      .as('kubectl')
      .patch(world.resource, { spec: { service: { trafficDistribution: '' } } }, { type: 'merge' });
    expect((await world.run()).decision.kind).toBe('idle');
    const found = world.kube.peek(service('example-client'));
    expect(found?.metadata.annotations).toMatchObject({ 'example.com/b': '2' });
    expect(found?.metadata.annotations).not.toHaveProperty('example.com/a');
    expect(found?.['spec']).not.toHaveProperty('trafficDistribution');
  });
});

describe('volumes', LONG, () => {
  const template = (storage: string, storageClassName = 'standard'): EtcdClusterSpec => ({
    storage: { volumeClaimTemplate: { spec: { storageClassName, resources: { requests: { storage } } } } },
  });
  const requested = (world: OperatorWorld) =>
    world.kube
      .all('PersistentVolumeClaim')
      .map(
        claim =>
          (claim['spec'] as { resources: { requests: { storage: string } } }).resources.requests.storage,
      );
  const allow = (world: OperatorWorld, allowVolumeExpansion: boolean) =>
    world.kube.mutate(
      { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', name: 'standard' },
      object => void (object['allowVolumeExpansion'] = allowVolumeExpansion),
    );
  /** The storage driver and the kubelet do their part. */
  const grow = (world: OperatorWorld, storage: string) => {
    for (const name of MEMBERS) {
      world.kube.mutate(
        world.claim(name),
        claim => void (claim['status'] = { phase: 'Bound', capacity: { storage } }),
      );
    }
  };

  it('grow when their class allows it, without a restart, and status says how far they are', async () => {
    const world = await created(template('1Gi'));
    allow(world, true);
    grow(world, '1Gi');
    const before = uids(world);
    await edit(world, template('2Gi'));
    await world.run();
    expect(requested(world)).toEqual(['2Gi', '2Gi', '2Gi']);
    expect(condition(world, 'StorageResized')).toMatchObject({
      status: 'False',
      reason: 'Resizing',
      message: 'example-0: 1Gi of 2Gi; example-1: 1Gi of 2Gi; example-2: 1Gi of 2Gi',
    });
    expect(world.cluster.status.storage?.size).toBe('1Gi');
    grow(world, '2Gi');
    await world.run();
    expect(world.cluster.status.storage?.size).toBe('2Gi');
    expect(condition(world, 'StorageResized')).toMatchObject({ status: 'True', reason: 'SizeReached' });
    expect(uids(world)).toEqual(before);
    expect(world.events.map(event => event.message)).toContain('claim example-1 is expanded from 1Gi to 2Gi');
  });

  it('of a class that does not grow stay as they are, and it is said', async () => {
    const world = await created(template('1Gi'));
    allow(world, false);
    await edit(world, template('2Gi'));
    expect((await world.run()).decision.kind).toBe('idle');
    expect(requested(world)).toEqual(['1Gi', '1Gi', '1Gi']);
    expect(condition(world, 'StorageResized')).toMatchObject({
      status: 'False',
      reason: 'ExpansionNotAllowed',
      message: expect.stringContaining('StorageClass standard does not have allowVolumeExpansion'),
    });
  });

  it('get labels and annotations that the template is given later, but none of the operator’s own', async () => {
    const labelled = (metadata: object): EtcdClusterSpec => ({
      storage: {
        volumeClaimTemplate: { metadata, spec: template('1Gi').storage!.volumeClaimTemplate!.spec },
      },
    });
    const world = await created(labelled({ labels: { team: 'a', old: 'stays' } }));
    const before = uids(world);
    const metadata = {
      labels: { team: 'b', app: 'mine', 'app.kubernetes.io/part-of': 'shop' },
      annotations: { 'backup.example.com/policy': 'daily', 'etcd.database.coreos.com/incarnation': 'x' },
    };
    await edit(world, labelled(metadata));
    expect((await world.run()).decision.kind).toBe('idle');
    for (const claim of world.kube.all('PersistentVolumeClaim')) {
      expect(claim.metadata.labels).toMatchObject({
        team: 'b',
        old: 'stays',
        app: 'etcd',
        'app.kubernetes.io/part-of': 'shop',
      });
      expect(claim.metadata.annotations).toMatchObject({ 'backup.example.com/policy': 'daily' });
      expect(claim.metadata.annotations?.['etcd.database.coreos.com/incarnation']).not.toBe('x');
    }
    expect(uids(world)).toEqual(before);
  });

  it('whose labels something puts back are reported, and keep no rollout waiting', async () => {
    const labelled = (labels: Record<string, string>): EtcdClusterSpec => ({
      storage: {
        volumeClaimTemplate: {
          metadata: { labels },
          spec: template('1Gi').storage!.volumeClaimTemplate!.spec,
        },
      },
    });
    const world = await created(labelled({ team: 'a' }));
    // An admission webhook that knows better.
    const patch = world.kube.patch.bind(world.kube);
    const stubborn: typeof patch = async (ref, body, options) => {
      const { metadata } = body as { readonly metadata?: { readonly labels?: object } };
      const keeps = ref.kind === 'PersistentVolumeClaim' && metadata?.labels !== undefined;
      return patch(
        ref,
        keeps ? { ...(body as object), metadata: { ...metadata, labels: {} } } : body,
        options,
      );
    };
    Object.assign(world.kube, { patch: stubborn });
    await edit(world, { ...labelled({ team: 'b' }), etcd: { snapshotCount: 5_000 } });
    await expect(world.run()).rejects.toThrow('PersistentVolumeClaim example-0: label team is not b');
    expectRolled(world, '--snapshot-count=5000');
  });

  it('get a VolumeAttributesClass in place, and it is said when Kubernetes does not keep it', async () => {
    const world = await created(template('1Gi'));
    const before = uids(world);
    const gold = template('1Gi');
    const claimSpec = { ...gold.storage?.volumeClaimTemplate?.spec, volumeAttributesClassName: 'gold' };
    await edit(world, { storage: { volumeClaimTemplate: { spec: claimSpec } } });
    await world.run();
    for (const claim of world.kube.all('PersistentVolumeClaim'))
      expect(claim['spec']).toMatchObject({ volumeAttributesClassName: 'gold' });
    expect(uids(world)).toEqual(before);
    const uid = world.kube.all('PersistentVolumeClaim')[0]?.metadata.uid ?? '';
    const step = { kind: 'modifyVolume', claim: 'example-0', uid, attributesClass: 'silver' } as const;
    await expect(world.perform({ ...step, uid: 'another' })).rejects.toMatchObject({
      type: 'PreconditionChanged',
    });
    const patch = world.kube.patch.bind(world.kube);
    const drops: typeof patch = async (ref, body, options) =>
      patch(ref, ref.kind === 'PersistentVolumeClaim' ? { metadata: {} } : body, options);
    Object.assign(world.kube, { patch: drops });
    await expect(world.perform(step)).rejects.toThrow('does not keep volumeAttributesClassName');
  });

  it('are never shrunk, and a claim that was looked at is distinguished from a later one', async () => {
    const world = await created(template('2Gi'));
    allow(world, true);
    const refused = { type: 'PreconditionChanged' };
    const uid = world.kube.all('PersistentVolumeClaim')[0]?.metadata.uid ?? '';
    const step = { kind: 'expandClaim', claim: 'example-0', from: '2Gi' } as const;
    await expect(world.perform({ ...step, uid, size: '1Gi' })).rejects.toMatchObject(refused);
    await edit(world, template('3Gi'));
    await expect(world.perform({ ...step, uid: 'another', size: '3Gi' })).rejects.toMatchObject(refused);
    expect(requested(world)).toEqual(['2Gi', '2Gi', '2Gi']);
    await world.perform({ ...step, uid, size: '3Gi' });
    await expect(world.perform({ ...step, uid, size: '3Gi' })).rejects.toMatchObject(refused);
    expect(requested(world)).toEqual(['3Gi', '2Gi', '2Gi']);
  });

  it('note the size that was asked for, also when they are enlarged, and not what others make of it', async () => {
    const world = await created(template('2Gi'));
    allow(world, true);
    const noted = () =>
      world.kube
        .all('PersistentVolumeClaim')
        .map(({ metadata }) => metadata.annotations?.[ANNOTATION_STORAGE_SIZE]);
    expect(noted()).toEqual(['2Gi', '2Gi', '2Gi']);
    await edit(world, template('3Gi'));
    await world.run();
    expect(requested(world)).toEqual(['3Gi', '3Gi', '3Gi']);
    expect(noted()).toEqual(['3Gi', '3Gi', '3Gi']);
    const spec = { resources: { requests: { storage: '5Gi' } } };
    await world.kube.as('kubectl').patch(world.claim('example-1'), { spec }, { type: 'merge' });
    await world.run();
    expect(noted()).toEqual(['3Gi', '3Gi', '3Gi']);
    // What others have enlarged is theirs until the specification asks for it.
    await edit(world, template('4Gi'));
    await world.run();
    expect(requested(world)).toEqual(['4Gi', '5Gi', '4Gi']);
    expect(noted()).toEqual(['4Gi', '4Gi', '4Gi']);
  });

  it('are not enlarged to a size that was taken back before the step was tried again', async () => {
    const world = await created(template('2Gi'));
    allow(world, true);
    await edit(world, template('200Gi'));
    const { decision } = await world.look();
    if (decision.kind !== 'operate') throw new Error(`${decision.kind} is decided`);
    expect(decision.step).toMatchObject({ kind: 'expandClaim', size: '200Gi' });
    await edit(world, template('20Gi'));
    await expect(world.perform(decision.step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(requested(world)).toEqual(['2Gi', '2Gi', '2Gi']);
  });
});
