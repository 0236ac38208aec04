/** Restores of EtcdBackups with a second store: which of the two is read, and that it is said. */
import { describe, expect, it } from 'vitest';
import { examineEither } from '../../src/activities/restore/either-store.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdRestore } from '../../src/api/schemas/types.ts';
import { type StoreErrorCode, StoreError } from '../../src/store/port.ts';
import { snapshotBytes } from '../fakes/etcd/snapshot.ts';
import { ActivityEnvironment } from '../worlds/activity-environment.ts';
import { KEY, RestoreWorld } from '../worlds/restore-world.ts';
import { expectRestored } from '../worlds/restored.ts';

async function asked(sum: { readonly sha256?: string | null } = {}): Promise<RestoreWorld> {
  const world = await RestoreWorld.withCluster();
  world.seedEtcdBackup();
  world.seedCopy(sum);
  world.request({
    backupStorageType: '',
    s3: undefined,
    backupRef: { name: 'nightly' },
    confirmClusterID: world.cluster.status.clusterID ?? '',
  } as never);
  return world;
}

const COPY = `s3://copies/far/${KEY}`;
const refuse = (world: RestoreWorld, code: StoreErrorCode) => {
  world.store.beforeCall = () => {
    throw new StoreError(code, `the first store is ${code}`);
  };
};
/** What the examination finds, or fails with, on this attempt at the step. */
const examined = (world: RestoreWorld, attempt = 1) => {
  const restore = world.kube.peek(world.restoreRef) as unknown as EtcdRestore;
  return new ActivityEnvironment({ attempt }).run(() => examineEither(world.deps, restore));
};

describe('a restore of an EtcdBackup with a second store', () => {
  it('reads the first store, and says so', async () => {
    const world = await asked();
    await world.settle();
    expectRestored(world);
    expect(world.restore.source).toMatchObject({ location: `s3://backups/${KEY}`, store: 'First' });
    expect(world.restore.source).not.toHaveProperty('because');
  });

  const LOSSES: readonly (readonly [string, (world: RestoreWorld) => void, string])[] = [
    ['the bucket is gone', (world: RestoreWorld) => refuse(world, 'no-bucket'), 'no-bucket'],
    ['the object is gone', (world: RestoreWorld) => world.store.objects.clear(), 'does not exist'],
    ['it refuses', (world: RestoreWorld) => refuse(world, 'denied'), 'denied'],
    [
      'the bytes are damaged',
      (world: RestoreWorld) => {
        const bytes = Buffer.from(world.store.objects.get(KEY)?.bytes ?? '');
        bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
        world.store.objects.set(KEY, { bytes, modifiedAt: 0 });
      },
      'is refused',
    ],
  ];

  it.each(LOSSES)('reads the second store when %s, and says so', async (_, lose, why) => {
    const world = await asked();
    lose(world);
    await world.settle();
    expectRestored(world);
    expect(world.restore.source).toMatchObject({ location: COPY, store: 'Second' });
    expect(world.restore.source?.because).toContain(why);
    const event = world.events.find(({ reason }) => reason === 'SecondStoreUsed');
    expect(event?.message).toContain(`${COPY} is read instead of s3://backups/${KEY}`);
  });

  it.each(LOSSES)('goes on with the second store when, after the first was examined, %s', async (_, lose) => {
    const world = await asked();
    await world.settleUntil('fillVolume');
    lose(world);
    await world.settle();
    expectRestored(world);
    expect(world.restore.source).toMatchObject({ location: `s3://backups/${KEY}`, store: 'First' });
    expect(world.restore.source?.because).toContain(`${COPY} was read instead of s3://backups/${KEY}`);
    expect(world.events.map(({ reason }) => reason)).toContain('SecondStoreUsed');
  });

  it.each(['timeout', 'unavailable'] as const)(
    'tries a first store that is %s once more before it reads the second',
    async code => {
      const world = await asked();
      await world.stepRestore();
      refuse(world, code);
      await expect(examined(world, 1)).rejects.toMatchObject({ code });
      expect(await examined(world, 2)).toMatchObject({ location: COPY, store: 'Second' });
    },
  );

  it('restores no copy of a backup whose SHA-256 is not recorded', async () => {
    const world = await asked({ sha256: null });
    await world.stepRestore();
    refuse(world, 'no-bucket');
    await expect(examined(world)).rejects.toThrow('has recorded no SHA-256 of the backup');
  });

  it('restores no copy with other bytes', async () => {
    const world = await asked();
    await world.stepRestore();
    refuse(world, 'no-bucket');
    const other = snapshotBytes(Buffer.alloc(4096, 8));
    world.second.objects.set(`far/${KEY}`, { bytes: other, modifiedAt: 0 });
    await expect(examined(world)).rejects.toMatchObject({ name: 'EtcdError', code: 'corrupt' });
  });

  it('restores no copy of a backup that its verification found bad', async () => {
    const world = await asked();
    await world.stepRestore();
    world.seedBackup({ verified: '' });
    await expect(examined(world)).rejects.toThrow('records that its verification failed');
  });

  it('says of both stores what is wrong when neither can be read', async () => {
    const world = await asked();
    await world.stepRestore();
    refuse(world, 'no-bucket');
    world.second.beforeCall = () => {
      throw new StoreError('denied', 'the second store is denied');
    };
    await expect(examined(world)).rejects.toThrow(
      'the second store is denied; and the first store is no-bucket',
    );
  });

  it('reads the copy at once when the first store is another one by now', async () => {
    const world = await asked();
    world.kube.mutate(
      { apiVersion: API_VERSION, kind: 'EtcdBackup', namespace: world.ref.namespace, name: 'nightly' },
      object => Object.assign(object['spec'] as object, { s3: { path: 'elsewhere/etcd/example' } }),
    );
    await world.settle();
    expectRestored(world);
    expect(world.restore.source).toMatchObject({ location: COPY, store: 'Second' });
  });
});
