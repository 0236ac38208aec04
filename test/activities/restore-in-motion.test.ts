/** Restores while the world continues: other backups are taken, specifications are edited, volumes and owners are lost half-way. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_KEPT_BY_RESTORE, API_VERSION } from '../../src/api/names.ts';
import { SEED_POD_LABELS } from '../../src/objects/seed-pod.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { RestoreWorld } from '../worlds/restore-world.ts';
import { asked, expectRestored, NEW, OLD } from '../worlds/restored.ts';

const NIGHTLY = { apiVersion: API_VERSION, kind: 'EtcdBackup', namespace: 'shop', name: 'nightly' };

/** A living cluster that is to be restored from the newest backup of an EtcdBackup. */
async function fromHistory(): Promise<RestoreWorld> {
  const world = await RestoreWorld.withCluster();
  world.seedEtcdBackup();
  world.request({ confirmClusterID: world.cluster.status.clusterID ?? '', backupRef: { name: 'nightly' } });
  world.kube.mutate(world.restoreRef, object => {
    const { backupStorageType: _, s3: __, ...spec } = object['spec'] as Record<string, unknown>;
    object['spec'] = spec;
  });
  return world;
}

describe('the backup of a restore that has begun', () => {
  it('is the one that was examined, also when another one is the newest by now', async () => {
    const world = await fromHistory();
    await world.settleUntil('fillVolume');
    world.replaceBackup('etcd/newer', '2026-11-21T09:59:00Z');
    await world.settle();
    expectRestored(world);
    expect(world.restore.source?.location).toBe('s3://backups/etcd/example');
  });

  it('is found when its EtcdBackup was deleted and made again, without its history', async () => {
    const world = await fromHistory();
    await world.settleUntil('fillVolume');
    await world.kube.as('kubectl').delete(NIGHTLY);
    await expect(world.step()).rejects.toThrow('EtcdBackup shop/nightly does not exist: create it');
    world.seedEtcdBackup();
    world.kube.mutate(NIGHTLY, object => void delete object['status']);
    await world.settle();
    expectRestored(world);
  });

  it('is not exchanged by an edit: that is said, and never reported as if it were done', async () => {
    const world = await asked();
    await world.settleUntil('unpackBackup');
    world.editRestore({ s3: { path: 'backups/etcd/other', awsSecret: '' } });
    await world.stepRestore();
    expect(world.restore.step).toContain('the change of spec after the restore began has no effect');
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Succeeded', observedGeneration: 1 });
    expect(world.restore.conditions?.find(({ type }) => type === 'Succeeded')).toMatchObject({
      observedGeneration: 1,
    });
  });

  it('is not brought when an edit names another one before: what to do is said', async () => {
    const world = await asked();
    await world.settleUntil('fillVolume');
    world.editRestore({ s3: { path: 'backups/etcd/other', awsSecret: '' } });
    await expect(world.step()).rejects.toThrow(
      'now names s3://backups/etcd/other, but the restore began with s3://backups/etcd/example',
    );
    world.editRestore({ s3: { path: 'backups/etcd/example', awsSecret: '' } });
    await world.settle();
    expectRestored(world);
  });
});

it('a restore whose path was corrected while the wrong object was read does not fail for that object', async () => {
  const world = await asked();
  world.store.objects.set('etcd/bad', { bytes: Buffer.alloc(64), modifiedAt: 0 });
  world.editRestore({ s3: { path: 'backups/etcd/bad', awsSecret: '' } });
  const head = world.store.head.bind(world.store);
  world.store.head = async (...call: Parameters<typeof head>) => {
    if (call[0] === 'etcd/bad') world.editRestore({ s3: { path: 'backups/etcd/example', awsSecret: '' } });
    return head(...call);
  };
  await world.settle();
  expectRestored(world);
});

describe('a restored cluster that loses all that was restored before clients are let in', () => {
  async function lost(): Promise<RestoreWorld> {
    const world = await asked();
    await world.settleUntil('recordClusterId');
    await world.step();
    await world.loseVolumesOf(['example-3']);
    return world;
  }

  it('says how the members before come back', async () => {
    const world = await lost();
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'AllVolumesLost' });
    expect(JSON.stringify(decision)).toContain('delete EtcdRestore back');
  });

  it.each<[string, (world: RestoreWorld) => Promise<unknown>]>([
    ['its EtcdRestore is deleted', world => world.deleteRestore().then(() => world.runCluster())],
    ['the restore is aborted', world => world.settle(world.abort()).then(() => world.settle())],
  ])('becomes what it was when %s', async (_, give) => {
    const world = await lost();
    await give(world);
    expect(world.cluster.status.members?.ready).toEqual(OLD);
    expect(world.names('Pod')).toEqual(OLD);
    expect(world.cluster.status.previousIncarnation).toBeUndefined();
  });
});

describe('a restored cluster that loses all that was restored when clients were let in', () => {
  /** The end of the restore is late, so that what clients wrote is lost before. */
  async function lost(): Promise<RestoreWorld> {
    const world = await asked();
    await world.settleUntil('concludeRestore');
    await world.look();
    await world.loseVolumesOf(NEW);
    return world;
  }

  it.each<[string, (world: RestoreWorld) => Promise<unknown>]>([
    ['its EtcdRestore is deleted', world => world.deleteRestore()],
    [
      'its EtcdRestore and the Service are deleted',
      async world => {
        await world.kube
          .as('kubectl')
          .delete({ apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'example-client' });
        await world.deleteRestore();
      },
    ],
    ['the restore is aborted', world => world.runCluster(world.abort())],
  ])(
    'does not become what it was when %s: that is not what clients saw last (seed 1400062)',
    async (_, give) => {
      const world = await lost();
      await give(world);
      const { decision } = await world.look();
      expect(decision).toMatchObject({ kind: 'blocked', reason: 'AllVolumesLost' });
      expect(world.names('Pod').filter(name => OLD.includes(name))).toEqual([]);
      expect(world.cluster.status.previousIncarnation).toBeDefined();
    },
  );

  it('is restored again with the word of its owner, when its EtcdRestore is gone', async () => {
    const world = await lost();
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' }, 'again');
    for (let pass = 0; pass < 3; pass += 1) await world.stepRestore();
    expect(world.restore.step).toContain('EtcdRestore back restores the cluster example first');
    world.adopt('back');
    await world.deleteRestore();
    world.adopt('again');
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Succeeded', succeeded: true });
    expect(world.cluster.status.members?.ready).toHaveLength(3);
  });
});

it('a restore ends the pods that its attempts have left, also of members that no one remembers (seed 1400058)', async () => {
  const world = await asked();
  await world.settleUntil('fillVolume');
  const { uid = '' } = world.kube.peek(world.restoreRef)?.metadata ?? {};
  for (const [name, owner] of [
    ['example-9-seed', uid],
    ['other-0-seed', 'of-another-restore'],
  ] as const)
    world.kube.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'shop',
        labels: SEED_POD_LABELS,
        ownerReferences: [
          { apiVersion: API_VERSION, kind: 'EtcdRestore', name: 'back', uid: owner, controller: true },
        ],
      },
      spec: { containers: [{ args: [], image: 'operator:test' }], volumes: [] },
      status: { phase: 'Succeeded' },
    });
  await world.settle();
  expect(world.restore.phase).toBe('Succeeded');
  expect(world.names('Pod')).toEqual([...NEW, 'other-0-seed']);
});

it('a restore waits for pods of the cluster whose owner a user took off: they would go on beside it', async () => {
  const world = await asked();
  for (const name of ['example-0', 'example-1'])
    world.kube.mutate(world.pod(name), object => void delete object.metadata.ownerReferences);
  await world.settle();
  expect(world.restore.phase).toBe('Validating');
  expect(world.restore.step).toContain('example-0, example-1');
  expect(world.cluster.status.previousIncarnation).toBeUndefined();
  for (const name of ['example-0', 'example-1']) await world.kube.as('kubectl').delete(world.pod(name));
  await world.settle();
  expectRestored(world);
});

it('a status that is lost after a restore is rebuilt without the members before', async () => {
  const world = await RestoreWorld.withCluster({ spec: { version: '3.6.16' } });
  world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' });
  await world.settle();
  world.kube.mutate(world.resource, object => void delete object['status']);
  await world.runCluster();
  expect(world.names('Pod')).toEqual(NEW);
  expect(world.cluster.status.settings).toMatchObject({ size: 3 });
});

it('a status that is lost while no member has a pod, beside an absent version: the cluster keeps the version of its data', async () => {
  const world = await RestoreWorld.withCluster({ spec: { version: '3.6.15' } });
  world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' });
  world.kube.mutate(world.resource, object => void delete (object['spec'] as { version?: string }).version);
  await world.settleUntil('unpackBackup');
  expect(world.names('Pod')).toEqual([]);
  world.kube.mutate(world.resource, object => void (object['status'] = {}));
  // More than one pass may go by before it is recorded again.
  await world.look();
  await world.settle();
  expect(world.restore.phase).toBe('Succeeded');
  expect(world.cluster.status).toMatchObject({ currentVersion: '3.6.15', settings: { version: '3.6.15' } });
});

describe('of a cluster whose status was lost after a restore, the claims that were put aside', () => {
  const template = (storage: string, labels: Record<string, string>) => ({
    storage: {
      volumeClaimTemplate: {
        metadata: { labels },
        spec: { storageClassName: 'standard', resources: { requests: { storage } } },
      },
    },
  });
  const claims = (world: RestoreWorld) => world.kube.all('PersistentVolumeClaim', world.ref.namespace);

  async function withLostStatus(): Promise<RestoreWorld> {
    const spec = { version: '3.6.16', ...template('1Gi', {}) };
    const world = await RestoreWorld.withCluster({ spec });
    world.kube.mutate(
      { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', name: 'standard' },
      object => void (object['allowVolumeExpansion'] = true),
    );
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' });
    await world.settle();
    expectRestored(world);
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.runCluster();
    return world;
  }

  it('stay as they are when the members are given other claims', async () => {
    const world = await withLostStatus();
    const before = claims(world).filter(({ metadata }) => OLD.includes(metadata.name));
    world.kube.mutate(world.resource, object => {
      object['spec'] = { ...(object['spec'] as object), ...template('2Gi', { tier: 'gold' }) };
    });
    await world.runCluster();
    const after = claims(world);
    expect(after.filter(({ metadata }) => OLD.includes(metadata.name))).toEqual(before);
    const members = after.filter(({ metadata }) => NEW.includes(metadata.name));
    expect(members.map(({ metadata }) => metadata.labels?.['tier'])).toEqual(['gold', 'gold', 'gold']);
  });

  it('are no part of what the next restore puts aside', async () => {
    const world = await withLostStatus();
    const before = claims(world).filter(({ metadata }) => OLD.includes(metadata.name));
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' }, 'again');
    await world.settle();
    expect(world.restore.phase).toBe('Succeeded');
    expect(world.cluster.status.previousIncarnation?.claims?.toSorted()).toEqual(NEW);
    expect(claims(world).filter(({ metadata }) => OLD.includes(metadata.name))).toEqual(before);
  });

  it('are the members’ again when the restore is taken back and the status is lost then', async () => {
    const world = await asked();
    await world.settleUntil('unpackBackup');
    await world.kube.as('kubectl').delete(world.restoreRef);
    await world.settle();
    expect(world.names('Pod')).toEqual(OLD);
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.runCluster();
    expect(world.cluster.status.members?.ready).toEqual(OLD);
  });
});

it('a restore puts aside more claims than its status has room for', async () => {
  const world = await asked();
  const [pattern] = world.kube.all('PersistentVolumeClaim', world.ref.namespace);
  const { uid: _, ...metadata } = pattern?.metadata ?? { name: '' };
  for (let serial = 100; serial < 170; serial += 1)
    world.kube.seed({ ...pattern, metadata: { ...metadata, name: `example-${serial}` } } as WritableObject);
  await world.settleUntil('fillVolume');
  expect(world.cluster.status.previousIncarnation?.claims).toHaveLength(64);
  const kept = world.kube
    .all('PersistentVolumeClaim', world.ref.namespace)
    .filter(claim => claim.metadata.annotations?.[ANNOTATION_KEPT_BY_RESTORE] === 'back');
  expect(kept).toHaveLength(73);
});

it('a pod that makes the data and does not start is reported', async () => {
  const world = await asked();
  await world.settleUntil('unpackBackup');
  world.kubelet.stuck.set('example-3-seed', 'ImagePullBackOff');
  await world.step();
  world.kubelet.settle();
  await expect(world.step()).rejects.toThrow(/example-3-seed does not start: .*cannot be pulled/);
  world.kubelet.stuck.clear();
  world.kube.mutate(world.pod('example-3-seed'), object => void delete object['status']);
  await world.settle();
  expectRestored(world);
});

describe('a rescue from a total loss', () => {
  const SPEC = { size: 3, version: '3.6.16', recovery: { totalLoss: 'RestoreLatestBackup' as const } };

  /** Every member finds its volume empty, and says so, while its claim and node are there. */
  function emptyVolumes(world: RestoreWorld): void {
    for (const name of OLD) {
      world.etcd.wipe(world.kube.peek(world.claim(name))?.metadata.uid ?? '');
      world.kubelet.restart(name);
    }
    world.kubelet.settle();
    world.now += 3_600_000;
  }

  it('continues when those whose volumes are empty are stopped, who alone say so', async () => {
    const world = await RestoreWorld.withCluster({ spec: SPEC });
    world.seedEtcdBackup();
    emptyVolumes(world);
    await world.runCluster();
    // Their disks may be mounted yet.
    expect(world.names('EtcdRestore')).toEqual([]);
    world.now += 3_600_000;
    await world.runCluster();
    world.adopt(world.names('EtcdRestore')[0] ?? '');
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Succeeded', revision: 1_000_000_042 });
    expect(world.names('Pod')).toEqual(NEW);
  });

  it('is not held back by that of an earlier cluster of the same name', async () => {
    const world = await RestoreWorld.withCluster({ spec: SPEC });
    world.seedEtcdBackup();
    await world.loseVolumes();
    await world.runCluster();
    world.adopt(world.names('EtcdRestore')[0] ?? '');
    await world.settle();
    expect(world.restore.phase).toBe('Succeeded');
    const [first] = world.names('EtcdRestore');
    await world.deleteCluster();
    await world.runCluster();
    for (const name of world.names('PersistentVolumeClaim'))
      await world.kube.as('kubectl').delete(world.claim(name));
    world.createAgain(SPEC);
    await world.runCluster();
    await world.kube.as('kubectl').delete(NIGHTLY);
    world.seedEtcdBackup();
    await world.loseVolumes();
    await world.runCluster();
    expect(world.names('EtcdRestore')).toHaveLength(2);
    expect(world.names('EtcdRestore')).toContain(first);
  });

  it('says so when its name is taken', async () => {
    const world = await RestoreWorld.withCluster({ spec: SPEC });
    world.seedEtcdBackup();
    await world.loseVolumes();
    await world.runCluster();
    const [name = ''] = world.names('EtcdRestore');
    world.adopt(name);
    await world.deleteRestore();
    world.request({ etcdCluster: { name: 'other' } }, name);
    await expect(world.step()).rejects.toThrow(
      `EtcdRestore shop/${name} exists and has a different specification`,
    );
  });
});

it('a first member that never started is made again when the specification is corrected', async () => {
  const world = await asked();
  await world.settleUntil('startSeed');
  const edit = (repository: string) =>
    world.kube.as('kubectl').patch(world.resource, { spec: { repository } }, { type: 'merge' });
  const goOn = async (): Promise<void> => {
    for (let round = 0; round < 6; round += 1) {
      await world.step();
      world.kubelet.settle();
    }
  };
  await edit('registry.invalid/etcd');
  world.kubelet.stuck.set('example-3', 'ImagePullBackOff');
  await goOn();
  const uid = world.kube.peek(world.pod('example-3'))?.metadata.uid;
  expect(uid).toBeDefined();
  await edit('quay.io/coreos/etcd');
  await goOn();
  expect(world.kube.peek(world.pod('example-3'))?.metadata.uid).not.toBe(uid);
  world.kubelet.stuck.clear();
  await world.settle();
  expectRestored(world);
});
