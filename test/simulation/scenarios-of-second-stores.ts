/**
 * Scenarios about second stores: see scenarios.ts. Those about copies have a world of their own, of one EtcdBackup and its two stores; those about
 * restores are played in the world of a cluster.
 */
import type { EtcdBackupSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { StoreError } from '../../src/store/port.ts';
import { snapshotStream } from '../fakes/etcd/snapshot.ts';
import { BackupWorld, SECOND_STORE, SPEC } from '../worlds/backup-world.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { faultOfCopies, faultOfFirst } from './invariants-of-copies.ts';
import { BACKUP, keyOf } from './sim-backups.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const A_WHILE = 400;
const HOUR = 3_600_000;
const KEEP = 2;

/** An EtcdBackup with a second store that keeps two backups. */
function copying(spec: Partial<EtcdBackupSpec> = {}): BackupWorld {
  const backupPolicy = { backupIntervalInSecond: 3_600, maxBackups: KEEP };
  const world = new BackupWorld({ ...SPEC, backupPolicy, secondStore: SECOND_STORE, ...spec });
  world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(16 * 512, 'etcd'), 3_000);
  return world;
}

/** So many hours pass, each with its backup. */
async function hours(world: BackupWorld, count: number): Promise<void> {
  for (let hour = 0; hour < count; hour += 1) {
    await world.run();
    world.now += HOUR;
  }
}

function judge({ status, store, second, ref }: BackupWorld, isFirstWell = true): void {
  const of = { status, first: store.objects, second: second.objects, uid: ref.uid };
  const fault = faultOfCopies(of) ?? (isFirstWell ? faultOfFirst(of, KEEP) : undefined);
  if (fault !== undefined) throw new Breach(fault);
}

/** A cluster with a backup that is in both stores, and more writes since. Its path. */
async function copied(scripted: ScriptedWorld): Promise<string> {
  await scripted.create({ size: 3 });
  await scripted.pass(A_WHILE);
  const { backups } = scripted.world;
  const path = backups.take(CLUSTER, scripted.leader());
  backups.copy(path);
  await scripted.pass(A_WHILE);
  return path;
}

/** Somebody restores the newest backup of the EtcdBackup in place. */
function restoreNewest(scripted: ScriptedWorld): void {
  const { clusterID: confirmClusterID } = (scripted.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
  const none = { backupStorageType: undefined, s3: undefined };
  scripted.restore('', { ...none, backupRef: { name: BACKUP }, confirmClusterID });
}

async function succeededFrom(scripted: ScriptedWorld, store: 'First' | 'Second'): Promise<void> {
  await scripted.until('the restore has succeeded', () => scripted.restored().phase === 'Succeeded');
  await scripted.rest();
  const { source } = scripted.restored();
  if (source?.store !== store) throw new Breach(`${source?.location} was read instead of the ${store} store`);
}

export const secondStoreScenarios = {
  /** What lies under the name of a copy is somebody else's. */
  async copyHasTheNameOfAnotherObject() {
    const world = copying();
    await world.run();
    const [first = ''] = world.copies;
    const precious = { bytes: Buffer.from('precious'), modifiedAt: 0 };
    world.second.objects.clear();
    world.second.objects.set(first, precious);
    world.now += HOUR;
    await world.run();
    judge(world);
    if (world.second.objects.get(first) !== precious) throw new Breach(`${first} was overwritten`);
  },

  /** The store keeps other bytes than it was sent. */
  async secondStoreDamagesWhatItStores() {
    const world = copying();
    const { put } = world.second;
    world.second.put = async (key, body, options) => {
      const done = await put.call(world.second, key, body, options);
      if (!key.endsWith('.json')) world.second.objects.get(key)?.bytes.writeUInt8(0, 4_000);
      return done;
    };
    await hours(world, 2);
    judge(world);
  },

  async secondStoreLosesACopy() {
    const world = copying({ backupPolicy: {} });
    await world.run();
    world.second.objects.clear();
    world.now += 25 * HOUR;
    await world.run();
    judge(world, false);
  },

  /** And is filled again by the next backup: what only the second store has is not forgotten. */
  async firstStoreLosesEverything() {
    const world = copying();
    await hours(world, 2);
    world.store.objects.clear();
    await world.run();
    judge(world, false);
    if (world.copies.length < KEEP) throw new Breach('the second store lost what the first one has lost');
  },

  /** Its copies would look as if the first store's own retention were about them. */
  async secondStoreIsInTheFirst() {
    const world = copying({ secondStore: { storageType: 'S3', s3: { path: 'backups/etcd/example_v9' } } });
    await hours(world, 3);
    judge(world);
  },

  /** Backups continue without copies, and the missing copies are made when the store is back. */
  async secondStoreIsAwayForHours() {
    const world = copying();
    world.second.beforeCall = () => {
      throw new StoreError('unavailable', 'the second store is away');
    };
    await hours(world, 3);
    judge(world);
    world.second.beforeCall = () => {};
    await hours(world, 1);
    judge(world);
    if (world.copies.length !== KEEP) throw new Breach(`${world.copies.length} copies were caught up`);
  },

  async firstStoreIsLostAndRestored(scripted: ScriptedWorld) {
    await copied(scripted);
    scripted.world.backups.store.objects.clear();
    restoreNewest(scripted);
    await succeededFrom(scripted, 'Second');
  },

  /** A store that only does not answer may answer the next time. */
  async firstStoreIsAwayForAWhile(scripted: ScriptedWorld) {
    await copied(scripted);
    const { store } = scripted.world.backups;
    let calls = 0;
    store.beforeCall = () => {
      calls += 1;
      if (calls <= 3) throw new StoreError('timeout', 'the first store does not answer');
    };
    restoreNewest(scripted);
    await succeededFrom(scripted, 'First');
  },

  /** Somebody has put another backup under the name of the copy. */
  async copyIsAnotherBackup(scripted: ScriptedWorld) {
    const path = await copied(scripted);
    const before = scripted.leader().clusterId;
    const { backups } = scripted.world;
    const other = backups.take('another', scripted.leader());
    const object = backups.store.objects.get(keyOf(other));
    backups.second.objects.delete(`${keyOf(path)}.json`);
    if (object !== undefined) backups.second.objects.set(keyOf(path), object);
    backups.store.objects.delete(keyOf(path));
    const none = { backupStorageType: undefined, s3: undefined };
    const backupRef = { name: BACKUP, location: `s3://${path}` };
    scripted.restore('', { ...none, backupRef, confirmClusterID: before });
    await scripted.until('it is refused', () => scripted.restored().phase === 'Failed');
    await scripted.rest();
    if (scripted.leader().clusterId !== before) throw new Breach('another cluster is there than before');
  },
};
