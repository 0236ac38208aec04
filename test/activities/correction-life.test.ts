/** A first manifest with a fault that is corrected: what never started is made again, and the cluster forms as if nothing had been. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const NAMES = ['example-0', 'example-1', 'example-2'];

const edit = (world: OperatorWorld, spec: object) =>
  world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });

/** A cluster of which these members cannot be started, for this reason. */
async function stuck(
  spec: EtcdClusterSpec,
  { names = NAMES, reason = 'ImagePullBackOff' }: { names?: readonly string[]; reason?: string } = {},
): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', ...spec } });
  for (const name of names) world.kubelet.stuck.set(name, reason);
  expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'MembersNotStarting' });
  return world;
}

const uidsOf = (world: OperatorWorld, kind: 'Pod' | 'PersistentVolumeClaim') =>
  world.kube.all(kind).map(({ metadata }) => metadata.uid);

async function forms(world: OperatorWorld): Promise<void> {
  world.kubelet.stuck.clear();
  expect((await world.run()).decision.kind).toBe('idle');
  expect(world.names('Pod')).toEqual(NAMES);
  expect(world.names('PersistentVolumeClaim')).toEqual(NAMES);
  expect(world.cluster.status.phase).toBe('Running');
}

describe('pods that never started are made again on their volumes', () => {
  const cases: readonly [what: string, typo: EtcdClusterSpec, correct: object][] = [
    ['the repository', { repository: 'registry.invalid/etcd' }, { repository: 'quay.io/coreos/etcd' }],
    ['the patch release', { version: '3.6.99' }, { version: '3.6.16' }],
    [
      'the node selector',
      { pod: { nodeSelector: { disk: 'sdd' } } },
      { pod: { nodeSelector: { disk: 'ssd' } } },
    ],
    [
      'the request for CPUs',
      { pod: { resources: { requests: { cpu: '64' } } } },
      { pod: { resources: { requests: { cpu: '64m' } } } },
    ],
  ];
  it.each(cases)('when %s is corrected', async (_, typo, correct) => {
    const world = await stuck(typo);
    const [pods, claims] = [uidsOf(world, 'Pod'), uidsOf(world, 'PersistentVolumeClaim')];
    await edit(world, correct);
    await world.run();
    expect(uidsOf(world, 'Pod').filter(uid => pods.includes(uid))).toEqual([]);
    expect(uidsOf(world, 'PersistentVolumeClaim')).toEqual(claims);
    await forms(world);
    expect(world.events.map(({ reason }) => reason)).toContain('MembersCorrected');
  });

  it('and a member that runs already is left alone', async () => {
    const world = await stuck({ repository: 'registry.invalid/etcd' }, { names: NAMES.slice(1) });
    const [first] = uidsOf(world, 'Pod');
    await edit(world, { repository: 'quay.io/coreos/etcd' });
    await world.run();
    expect(uidsOf(world, 'Pod')[0]).toBe(first);
  });

  it('which is done once: afterwards nothing is different', async () => {
    const world = await stuck({ repository: 'registry.invalid/etcd' });
    await edit(world, { repository: 'quay.io/coreos/etcd' });
    await world.run();
    const pods = uidsOf(world, 'Pod');
    await world.run();
    expect(uidsOf(world, 'Pod')).toEqual(pods);
  });
});

describe('volumes are made again with the pods', () => {
  it('when another minor is asked for: nothing of the first one is in a log', async () => {
    const world = await stuck({ version: '3.7.99' });
    const claims = uidsOf(world, 'PersistentVolumeClaim');
    await edit(world, { version: '3.6.16' });
    await world.run();
    expect(uidsOf(world, 'PersistentVolumeClaim').filter(uid => claims.includes(uid))).toEqual([]);
    await forms(world);
    expect(world.cluster.status.currentVersion).toBe('3.6.16');
  });

  const template = (storageClassName: string, storage = '1Gi'): EtcdClusterSpec => ({
    storage: {
      volumeClaimTemplate: { spec: { storageClassName, resources: { requests: { storage } } } },
    },
  });

  it('when another StorageClass is asked for, or a smaller size', async () => {
    const world = await stuck(template('fats', '1000Gi'), { reason: 'Unschedulable' });
    await edit(world, template('fast', '10Gi'));
    await world.run();
    await forms(world);
    const classes = world.kube.all('PersistentVolumeClaim').map(({ spec }) => spec);
    expect(classes).toEqual(
      NAMES.map(() =>
        expect.objectContaining({
          storageClassName: 'fast',
          resources: expect.objectContaining({ requests: { storage: '10Gi' } }),
        }),
      ),
    );
    expect(world.cluster.status.storage).toMatchObject({ storageClassName: 'fast', size: '10Gi' });
  });

  it('when the class is left to the default one', async () => {
    const world = await stuck(template('fats'), { reason: 'Unschedulable' });
    await edit(world, { storage: { volumeClaimTemplate: { spec: { storageClassName: null } } } });
    await world.run();
    await forms(world);
    expect(world.cluster.status.storage).toMatchObject({ storageClassName: 'standard' });
  });

  it('but not while a member runs that may have been part of something', async () => {
    const world = await stuck({ version: '3.7.99' }, { names: NAMES.slice(1) });
    const claims = uidsOf(world, 'PersistentVolumeClaim');
    await edit(world, { version: '3.6.16' });
    const { decision } = await world.run();
    expect(uidsOf(world, 'PersistentVolumeClaim')).toEqual(claims);
    expect(decision).toMatchObject({
      kind: 'blocked',
      message: expect.stringContaining('the volumes were created for etcd 3.7.99'),
    });
  });
});

it('a pod that has started since it was looked at is left alone', async () => {
  const world = await stuck({ repository: 'registry.invalid/etcd' });
  await edit(world, { repository: 'quay.io/coreos/etcd' });
  const step = await world.runUntil('remakeMembers');
  const pods = uidsOf(world, 'Pod');
  world.kubelet.stuck.clear();
  world.kubelet.settle();
  await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
  expect(uidsOf(world, 'Pod')).toEqual(pods);
});

it('a cluster whose volumes are going before it has formed is not recorded: all of it is made again', async () => {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16' } });
  const step = await world.runUntil('recordClusterId');
  const pods = uidsOf(world, 'Pod');
  world.kube.mutate(world.claim('example-1'), ({ metadata }) => {
    metadata.deletionTimestamp = new Date(world.now).toISOString();
    metadata.finalizers = ['kubernetes.io/pvc-protection'];
  });
  await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
  expect((await world.look()).decision).toMatchObject({
    step: { kind: 'remakeMembers', evenStarted: true, because: 'claim example-1 is being deleted' },
  });
  expect(pods).toHaveLength(3);
});
