import { openServices } from '../worlds/open-services.ts';
import { describe, expect, it } from 'vitest';
import { KEY, KEYS, REVISION, RestoreWorld } from '../worlds/restore-world.ts';
import { asked, expectRestored, killedAtWrites, NEW, OLD, WAYS } from '../worlds/restored.ts';
import { ANNOTATION_KEPT_BY_RESTORE } from '../../src/api/names.ts';
import { authFile, boltFile } from '../fakes/etcd/bolt-file.ts';
import { snapshotBytes } from '../fakes/etcd/snapshot.ts';

describe('a restore in place', () => {
  it('puts the backup under the old name, with new members, and keeps the old claims', async () => {
    const world = await asked();
    const before = world.cluster.status.clusterID;
    await world.settle();
    expectRestored(world);
    expect(world.cluster.status.clusterID).not.toBe(before);
    expect(world.store.objects.size).toBe(2);
  });

  it('keeps clients out from the fencing until every member is there', async () => {
    const world = await asked();
    const open: string[] = [];
    world.kube.intercept(call => {
      if (call.verb !== 'list' || call.kind !== 'Pod') return;
      const { incarnation } = world.cluster.status;
      const isUnder = incarnation?.restore !== undefined && incarnation.restore.completedAt === undefined;
      const isOpen = openServices(world).includes('example-client');
      if (isUnder && isOpen && world.names('Pod').length < 3) open.push(world.names('Pod').join());
    });
    await world.settle();
    expectRestored(world);
    expect(open).toEqual([]);
  });

  it('leaves the client Service as it was, with its uid and what clients know of it', async () => {
    const world = await asked();
    const service = () =>
      world.kube.all('Service').find(({ metadata }) => metadata.name === 'example-client');
    world.kube.mutate(
      { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'example-client' },
      object => {
        Object.assign(object['spec'] as object, {
          clusterIP: '192.0.2.7',
          ports: [{ port: 2379, nodePort: 30_001 }],
        });
      },
    );
    const before = service();
    await world.settle();
    expectRestored(world);
    expect(service()?.metadata.uid).toBe(before?.metadata.uid);
    expect(service()?.['spec']).toMatchObject({ clusterIP: '192.0.2.7' });
    expect(openServices(world)).toEqual(['example', 'example-client']);
  });

  it('says what it waits for until the cluster takes it up', async () => {
    const world = await asked();
    await world.stepRestore();
    await world.stepRestore();
    expect(world.restore).toMatchObject({
      phase: 'Fencing',
      step: 'wait until EtcdCluster example begins the restore',
    });
  });

  it('says what keeps the cluster from it', async () => {
    const world = await asked();
    world.kube.mutate(world.resource, object => {
      object['spec'] = { ...(object['spec'] as object), paused: true };
    });
    for (let pass = 0; pass < 4; pass += 1) {
      await world.stepRestore();
      await world.step().catch(() => undefined);
    }
    expect(world.restore.phase).toBe('Fencing');
    expect(world.restore.step).toContain('spec.paused');
  });

  it('takes back alarms that the snapshot has brought', async () => {
    const world = await asked();
    await world.settleUntil('recordClusterId');
    const [seed] = world.etcd.clusters.at(-1)?.processes ?? [];
    seed?.alarms.push('memberID:4711 alarm:NOSPACE ');
    await world.settle();
    expectRestored(world);
    expect(seed?.alarms).toEqual([]);
  });

  it('ends pods that an operator that was killed has left', async () => {
    const world = await asked();
    await world.settleUntil('startSeed');
    world.leavePod('claim');
    world.leavePod('volume');
    await world.settle();
    expectRestored(world);
  });

  it('marks no claim that has taken the place of the one that it has seen', async () => {
    const world = await asked();
    await world.settleUntil('switchIncarnation');
    const claim = world.claim('example-0');
    let seen = '';
    world.kube.intercept(({ verb, kind }) => {
      if (verb !== 'patch' || kind !== 'PersistentVolumeClaim' || seen !== '') return;
      seen = world.kube.peek(claim)?.metadata.uid ?? '';
      world.kube.mutate(claim, object => void (object.metadata.uid = 'another'));
    });
    await expect(world.step()).rejects.toThrow();
    expect(world.kube.peek(claim)?.metadata).toMatchObject({ uid: 'another' });
    expect(JSON.stringify(world.kube.peek(claim)?.metadata.annotations)).not.toContain('kept-by-restore');
  });

  it.each(['fillVolume', 'unpackBackup', 'startSeed'])(
    'looks once more right before %s: a cluster that was paused meanwhile is left alone',
    async kind => {
      const world = await asked();
      await world.settleUntil(kind);
      const { decision } = await world.look();
      world.kube.mutate(world.resource, object => {
        object['spec'] = { ...(object['spec'] as object), paused: true };
      });
      const before = world.snapshot();
      if (decision.kind !== 'operate') throw new Error(decision.kind);
      await expect(world.perform(decision.step)).rejects.toThrow('spec.paused');
      expect(world.snapshot()).toBe(before);
    },
  );

  it('leaves the old claims when the cluster is deleted later', async () => {
    const world = await asked();
    await world.settle();
    await world.deleteCluster();
    await world.runCluster();
    expect(world.names('Pod')).toEqual([]);
    expect(world.names('PersistentVolumeClaim')).toEqual(OLD);
  });

  it('can be done again, from the beginning', async () => {
    const world = await asked();
    await world.settle();
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' }, 'again');
    await world.settle();
    // A client that watched the first restored cluster is further than where that began.
    expect(world.restore).toMatchObject({
      phase: 'Succeeded',
      revision: 2_000_000_042,
      previousIncarnation: { claims: NEW },
    });
    expect(world.names('Pod')).toEqual(['example-6', 'example-7', 'example-8']);
    expect(world.names('PersistentVolumeClaim')).toHaveLength(9);
    expect(world.cluster.status.incarnation?.token).toMatch(/-3$/);
  });
});

describe('what was confirmed', () => {
  it('is recorded when it is first looked at, and held when the specification is completed later', async () => {
    const world = await RestoreWorld.withCluster();
    world.seedEtcdBackup();
    world.request({ backupRef: { name: 'nightly' }, backupStorageType: '' });
    await world.stepRestore();
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'NotConfirmed' } });
    const location = `s3://backups/${KEY}`;
    expect(world.restore.chosen).toEqual({ name: 'nightly', at: 'Latest', location });
    world.replaceBackup('shop/newer', '2026-11-21T11:00:00Z');
    world.editRestore({ confirmClusterID: world.cluster.status.clusterID ?? '' });
    await world.settle();
    expectRestored(world);
    expect(world.cluster.status.incarnation?.restore?.location).toBe(location);
  });

  it('is restored under the name of who asks, which the history keeps', async () => {
    const world = await RestoreWorld.withCluster();
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '', by: 'ana' });
    await world.settle();
    expectRestored(world);
    expect(world.cluster.status.history).toContainEqual(
      expect.objectContaining({ type: 'restoreCluster', requestedBy: 'ana' }),
    );
  });

  it('is not restored when the object is another one, and nothing is touched', async () => {
    const world = await RestoreWorld.withCluster();
    const sha256 = 'ab'.repeat(32);
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '', sha256 });
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
    expect(world.restore.reason).toContain(`but ${sha256} was requested`);
    expect(world.names('Pod')).toEqual(OLD);
  });
});

describe('a restore of a backup whose keys were counted', () => {
  /** Both passes until the cluster waits for somebody. */
  async function blocked(world: RestoreWorld) {
    for (let pass = 0; pass < 40; pass += 1) {
      world.kubelet.settle();
      await world.stepRestore();
      const { decision } = await world.step();
      if (decision.kind === 'blocked') return decision;
    }
    throw new Error('nothing stands in the way');
  }

  it('ends when its first member has as many', async () => {
    const world = await asked();
    await world.settle();
    expectRestored(world);
    expect(world.restore.source).toMatchObject({ revision: REVISION, keys: KEYS });
    expect(world.cluster.status.incarnation?.restore).toMatchObject({ keys: KEYS });
  });

  it('does not continue when it has fewer: nothing is grown or opened, and an abort brings back what was', async () => {
    const world = await asked();
    world.kubelet.snapshotKeys = KEYS - 1;
    expect(await blocked(world)).toMatchObject({
      reason: 'KeysDiffer',
      message:
        'example-3 has 16 keys at revision 1000000042, but the backup has 17: it does not contain the expected backup',
    });
    expect(world.cluster.status.clusterID).toBeUndefined();
    expect(world.names('Pod')).toEqual(['example-3']);
    expect(openServices(world)).toEqual(['example']);
    await world.settle(world.abort());
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
    expect(world.cluster.status.members?.ready).toEqual(OLD);
  });

  it('waits while they cannot be counted, and says why', async () => {
    const world = await asked();
    await world.settleUntil('recordClusterId');
    const restored = world.etcd.clusters.at(-1);
    if (restored === undefined) throw new Error('nothing is restored');
    restored.countFails = 'timeout';
    const { reason, message } = await blocked(world);
    expect(reason).toBe('KeysUnknown');
    expect(message).toMatch(
      /^the number of keys of example-3 .* the 17 keys of the backup: .*the keys are not counted/,
    );
    expect(openServices(world)).toEqual(['example']);
    restored.countFails = undefined;
    await world.settle();
    expectRestored(world);
  });

  it('is about its revision alone when no one has counted them', async () => {
    const world = await asked();
    world.seedBackup({ keys: null });
    world.kubelet.snapshotKeys = 3;
    await world.settle();
    expectRestored(world);
    expect(world.restore.source).not.toHaveProperty('keys');
    expect(world.cluster.status.incarnation?.restore).not.toHaveProperty('keys');
  });
});

describe('a restore continues after the operator was killed', () => {
  // At every write: test/integration/restore-kills.long.test.ts.
  it.each([
    ['in place', 12],
    ['into a new cluster', 40],
    ['aborted', 6],
  ] as const)(
    '%s',
    async (name, step) => {
      const way = WAYS[name];
      if (way === undefined) throw new RangeError(name);
      await killedAtWrites(way, step);
    },
    240_000,
  );
});

describe('a restore that may not begin', () => {
  it('over a cluster with quorum whose id no one confirmed', async () => {
    const world = await RestoreWorld.withCluster();
    world.request();
    await world.settle();
    expect(world.restore.phase).toBe('Refused');
    expect(world.restore.step).toContain('spec.confirmClusterID');
    expect(world.names('Pod')).toEqual(OLD);
  });

  it('of a backup whose etcd is newer than the cluster', async () => {
    const world = await asked();
    world.seedBackup({ etcdVersion: '3.7.1' });
    await world.settle();
    expect(world.restore.step).toContain('which cannot read it');
    expect(world.names('Pod')).toEqual(OLD);
  });

  it('of a bare snapshot whose data is of a newer format', async () => {
    const world = await asked();
    world.seedBare(snapshotBytes(boltFile('3.7.0')));
    await world.settle();
    expect(world.restore.source).toMatchObject({ storageVersion: '3.7.0' });
    expect(world.restore.step).toContain('is from etcd 3.7.0');
    expect(world.names('Pod')).toEqual(OLD);
  });

  it('of a backup with users, over a cluster without certificates', async () => {
    const world = await asked();
    world.seedBackup({ bytes: snapshotBytes(authFile(true)) });
    await world.settle();
    expect(world.restore.source).toMatchObject({ authEnabled: true });
    expect(world.restore.phase).toBe('Refused');
    expect(world.restore.step).toContain('TLS.auto');
    expect(world.names('Pod')).toEqual(OLD);
  });

  it('over a cluster whose members ask for a user that the operator is not', async () => {
    const world = await asked();
    for (const cluster of world.etcd.clusters) cluster.asksForUsers = true;
    await world.settle();
    expect(world.restore.phase).toBe('Refused');
    expect(world.restore.step).toContain('TLS.auto');
    expect(world.names('Pod')).toEqual(OLD);
    expect(world.names('Service')).toEqual(['example', 'example-client']);
  });

  it.each([
    ['one bit is flipped', (whole: Buffer) => Buffer.from(whole).fill(whole[9]! ^ 1, 9, 10)],
    ['it is truncated', (whole: Buffer) => whole.subarray(0, 2048)],
    ['it is something else', () => Buffer.from('#!/bin/sh\nexit 0\n')],
    ['it is empty', () => Buffer.alloc(0)],
  ])('of a backup that is none: %s', async (_, damage) => {
    const world = await asked();
    world.seedBackup({ bytes: damage(snapshotBytes(Buffer.alloc(4096, 7))) });
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
    expect(world.restore.reason).toContain('the snapshot is corrupt or incomplete');
    expect(world.names('Pod')).toEqual(OLD);
    expect(world.cluster.status.previousIncarnation).toBeUndefined();
  });

  it('of a whole snapshot that is not the one that its manifest describes', async () => {
    const world = await asked();
    world.seedBackup({ sha256: 'ab'.repeat(32) });
    await world.settle();
    expect(world.restore.reason).toContain('SHA-256');
    expect(world.names('Pod')).toEqual(OLD);
  });

  it('of a backup that was found bad when it was verified', async () => {
    const world = await asked();
    world.seedBackup({ verified: '' });
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
    expect(world.restore.reason).toContain('records that its verification failed');
    expect(world.names('Pod')).toEqual(OLD);
  });

  it('over a cluster that keeps its data in its pods', async () => {
    const world = await RestoreWorld.withCluster({
      spec: { size: 3, version: '3.6.16', storage: { emptyDir: {} } },
    });
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' });
    await world.settle();
    expect(world.restore.step).toContain('storage.volumeClaimTemplate');
    expect(world.names('Pod')).toEqual(OLD);
  });
});

describe('a restore of users that no one knew of', () => {
  it('says so when the first member asks for one, and is aborted', async () => {
    const world = await asked();
    await world.settleUntil('startSeed');
    const [old, restored] = world.etcd.clusters;
    if (restored === undefined) throw new Error('nothing is restored yet');
    restored.asksForUsers = true;
    await world.settleUntil('awaitQuorum');
    await expect(world.step()).rejects.toThrow(/user name is empty.*TLS\.auto/);
    await world.settle(world.abort());
    expect(world.restore.phase).toBe('Failed');
    expect(world.cluster.status.clusterID).toBe(old?.id);
    expect(world.names('Pod')).toEqual(OLD);
  });
});

describe('a restore into a new cluster', () => {
  it('makes the cluster of the template, which is never empty', async () => {
    const world = await RestoreWorld.withCluster();
    const target = { ...world.ref };
    await world.deleteCluster();
    await world.runCluster();
    world.request({ clusterTemplate: { size: 3, version: '3.6.16' } });
    await world.stepRestore();
    await world.stepRestore();
    expect(world.cluster.metadata.uid).not.toBe(target.uid);
    world.follow();
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Succeeded', succeeded: true });
    expect(world.cluster.status.incarnation?.members).toHaveLength(1);
    expect(world.cluster.status.members?.ready).toHaveLength(3);
  });

  it('is not called refused by the cluster that it made, nor is anyone asked to confirm that its data goes', async () => {
    const world = await RestoreWorld.withCluster();
    await world.deleteCluster();
    await world.runCluster();
    world.request({ clusterTemplate: { size: 1, version: '3.6.16' } });
    await world.stepRestore();
    await world.stepRestore();
    world.follow();
    // To its end, and the pass of the EtcdRestore that says so has not come yet.
    for (let pass = 0; pass < 5; pass += 1) await world.runCluster();
    expect(world.cluster.status.incarnation?.restore?.completedAt).toBeDefined();
    expect(world.restore.phase).not.toBe('Succeeded');
    expect(world.cluster.status.conditions?.find(({ type }) => type === 'RestorePending')).toBeUndefined();
    expect(world.events.map(({ reason }) => reason)).not.toContain('Refused');
  });

  it('makes no cluster that could not be restored into: one that keeps its data in its pods', async () => {
    const world = await RestoreWorld.withCluster();
    await world.deleteCluster();
    await world.runCluster();
    world.request({ clusterTemplate: { size: 3, version: '3.6.16', storage: { emptyDir: {} } } });
    await world.stepRestore();
    expect(world.restore.step).toContain('storage.volumeClaimTemplate instead of storage.emptyDir');
    expect(world.names('EtcdCluster')).toEqual([]);
  });

  it('leaves a cluster alone that is there already', async () => {
    const world = await RestoreWorld.withCluster();
    world.request({ clusterTemplate: { size: 3, version: '3.6.16' } });
    await world.settle();
    expect(world.restore.step).toContain('already exists');
    expect(world.names('Pod')).toEqual(OLD);
  });
});

describe('every volume is lost', () => {
  async function lost(totalLoss: 'Report' | 'RestoreLatestBackup', backups = true): Promise<RestoreWorld> {
    const world = await RestoreWorld.withCluster({
      spec: { size: 3, version: '3.6.16', recovery: { totalLoss } },
    });
    if (backups) world.seedEtcdBackup();
    await world.loseVolumes();
    return world;
  }

  it('restores the newest verified backup when the specification says so, and reports what is gone', async () => {
    const world = await lost('RestoreLatestBackup');
    await world.runCluster();
    world.adopt(world.names('EtcdRestore')[0] ?? '');
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Succeeded', revision: 1_000_000_042 });
    expect(world.cluster.status.members?.ready).toEqual(NEW);
    const reported = world.events.find(({ reason }) => reason === 'RestoringAfterTotalLoss');
    expect(reported?.message).toContain(
      'the backup of 2026-11-21T09:00:00Z; data written after that and above revision 42 is lost',
    );
  });

  it.each([
    ['the specification says Report', 'Report', true],
    ['no backup is verified', 'RestoreLatestBackup', false],
  ] as const)('does nothing when %s', async (_, totalLoss, backups) => {
    const world = await lost(totalLoss, backups);
    await world.runCluster();
    expect(world.names('EtcdRestore')).toEqual([]);
    expect(world.names('Pod')).toEqual([]);
  });

  it('does nothing while one volume is left', async () => {
    const world = await lost('RestoreLatestBackup');
    await world.bringBack('example-1');
    await world.runCluster();
    expect(world.names('EtcdRestore')).toEqual([]);
  });

  it('does not begin when a volume has come back meanwhile', async () => {
    const world = await lost('RestoreLatestBackup');
    await world.runCluster();
    world.adopt(world.names('EtcdRestore')[0] ?? '');
    await world.bringBack('example-1');
    await world.settle();
    expect(world.restore.step).toContain('nothing is restored automatically');
    expect(world.cluster.status.previousIncarnation).toBeUndefined();
  });
});

describe('a restore that is aborted', () => {
  it.each(['fenceMembers', 'switchIncarnation', 'fillVolume', 'unpackBackup', 'startSeed'])(
    'before %s: the old members come back with their data',
    async kind => {
      const world = await asked();
      const before = world.cluster.status.clusterID;
      await world.settleUntil(kind);
      await world.settle(world.abort());
      await world.settle();
      expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
      expect(world.restore.reason).toContain('aborted by ada');
      expect(world.cluster.status.clusterID).toBe(before);
      expect(world.cluster.status.members?.ready).toEqual(OLD);
      expect(world.names('Pod')).toEqual(OLD);
      expect(world.names('PersistentVolumeClaim')).toEqual(OLD);
      expect(world.names('Service')).toEqual(['example', 'example-client']);
      const claims = world.kube.all('PersistentVolumeClaim');
      expect(claims.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_KEPT_BY_RESTORE])).toEqual([]);
    },
  );

  it('after another restore: that one began with a single member, and all that it has now come back', async () => {
    const world = await asked();
    await world.settle();
    const { clusterID, members } = world.cluster.status;
    expect(members?.ready).toHaveLength(3);
    world.request({ confirmClusterID: clusterID ?? '' }, 'again');
    await world.settleUntil('fillVolume');
    await world.settle(world.abort());
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
    expect(world.cluster.status).toMatchObject({ clusterID, members: { ready: members?.ready } });
  });

  it('by deleting the EtcdRestore', async () => {
    const world = await asked();
    const before = world.cluster.status.clusterID;
    await world.settleUntil('unpackBackup');
    await world.deleteRestore();
    await world.runCluster();
    expect(world.cluster.status.clusterID).toBe(before);
    expect(world.cluster.status.members?.ready).toEqual(OLD);
    expect(world.names('PersistentVolumeClaim')).toEqual(OLD);
    const reported = world.events.find(({ reason }) => reason === 'RestoreAbandoned');
    expect(reported?.message).toBe(
      'back was abandoned, its EtcdRestore was deleted; the previous state is restored',
    );
  });

  it('and no other: the next one is not aborted', async () => {
    const world = await asked();
    await world.settleUntil('fillVolume');
    const aborted = world.abort();
    await world.settle(aborted);
    await world.runCluster(aborted);
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' }, 'again');
    await world.settle(aborted);
    expect(world.restore).toMatchObject({ phase: 'Succeeded', succeeded: true });
  });

  it.each(['fenceMembers', 'unpackBackup'])(
    'before %s, and the abort is forgotten right after it was heard: it ends all the same',
    async kind => {
      const world = await asked();
      const before = world.cluster.status.clusterID;
      await world.settleUntil(kind);
      await world.step(world.abort());
      await world.settle();
      await world.runCluster();
      expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
      expect(world.cluster.status.clusterID).toBe(before);
      expect(world.cluster.status.members?.ready).toEqual(OLD);
    },
  );
});
