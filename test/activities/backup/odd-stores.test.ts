/** EtcdBackups whose store is full of what killed writers left, or lists less than it has. */
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/store/port.ts';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { snapshotStream } from '../../fakes/etcd/snapshot.ts';

const DATABASE = Buffer.alloc(128 * 512, 'etcd');
const KEY = 'etcd/example';
const HOUR = 3_600_000;
const HOSTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

function aWorld(spec: Partial<EtcdBackupSpec> = {}): BackupWorld {
  const world = new BackupWorld({ ...SPEC, ...spec });
  world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
  return world;
}

it('a backup makes room with what writers that were killed have left, when the store is full', async () => {
  const world = aWorld();
  world.store.unfinished.set('etcd/example', world.now - 72 * HOUR);
  world.store.beforeCall = call => {
    const isFull = call === 'put' && world.store.unfinished.size > 0;
    if (isFull) throw new StoreError('full', 'no space is left');
  };
  await world.run();
  expect(world.status).toMatchObject({ phase: 'Succeeded' });
  expect(world.objects).toEqual([KEY]);
});

it('backups whose object a listing leaves out keep their manifest, and are counted', async () => {
  const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 3 } });
  await world.run();
  const [first = ''] = world.objects;
  const { list } = world.store;
  world.store.list = async function* (prefix, options) {
    for await (const object of list.call(world.store, prefix, options))
      if (object.key !== first) yield object;
  };
  world.now += HOUR;
  await world.run();
  expect(world.manifest(first)).toBeDefined();
  expect(world.status.history).toHaveLength(2);
});

/** Another cluster is at the same addresses. */
function exchange(world: BackupWorld): void {
  for (const [serial, host] of HOSTS.entries()) {
    world.etcd.stop(host);
    world.etcd.wipe(`example-${serial}`);
  }
  world.etcd.bootstrap({ name: 'example', hosts: HOSTS, token: 'restored' });
}

it('a backup that waits for its turn while its cluster becomes another one is reported as one of that', async () => {
  const world = aWorld();
  const stop = world.kube.intercept(({ verb, kind }) => {
    if (verb !== 'patch' || kind !== 'Pod') return;
    stop();
    exchange(world);
  });
  await world.run();
  expect(world.status.history).toEqual([
    expect.objectContaining({ clusterID: world.etcd.process(HOSTS[0] ?? '').cluster.id }),
  ]);
});

function imagesOf(pod: unknown): readonly string[] {
  const { containers = [], initContainers = [] } = (
    pod as { spec: { containers?: { image: string }[]; initContainers?: { image: string }[] } }
  ).spec;
  return [...containers, ...initContainers].map(({ image }) => image);
}

it.each([
  ['a text that status has no room for', { sha256: 'f'.repeat(65) }],
  ['a note of megabytes', { member: 'm'.repeat(60_000) }],
  ['a time that is a date', { time: '2026-11-21' }],
])('a manifest with %s is believed by no one, and retention goes on beside it', async (_, odd) => {
  const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 2 } });
  await world.run();
  const [first = ''] = world.objects;
  const manifest = world.manifest(first);
  const text = JSON.stringify({ ...manifest, entry: { ...manifest?.entry, ...odd } });
  world.store.objects.set(`${first}.json`, { bytes: Buffer.from(text), modifiedAt: world.now });
  for (let hour = 0; hour < 3; hour += 1) {
    world.now += HOUR;
    await world.run();
  }
  expect(world.manifest(first)).toBeUndefined();
  expect(world.status).toMatchObject({ phase: 'Scheduled', succeeded: true });
  expect(world.status.history).toHaveLength(2);
  expect(world.objects).toHaveLength(3);
});

it('of a manifest only what is known is kept, however much it says', async () => {
  const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 2 } });
  await world.run();
  const [first = ''] = world.objects;
  const manifest = world.manifest(first);
  const text = JSON.stringify({ ...manifest, entry: { ...manifest?.entry, note: 'n'.repeat(50_000) } });
  world.store.objects.set(`${first}.json`, { bytes: Buffer.from(text), modifiedAt: world.now });
  world.now += HOUR;
  await world.run();
  expect(world.status.history).toHaveLength(2);
  expect(world.status.history?.[1]).toEqual(manifest?.entry);
});

/** A backup whose operator is killed when its object is there, in a cluster that is another one when the next operator begins. */
async function cutShortByRestore(spec: Partial<EtcdBackupSpec> = {}, images: string[] = []) {
  const world = aWorld(spec);
  world.kube.intercept(({ verb, kind, body }) => {
    if (verb === 'create' && kind === 'Pod') images.push(...imagesOf(body));
  });
  const before = world.etcd.process(HOSTS[0] ?? '').cluster.id;
  let puts = 0;
  world.store.beforeCall = call => {
    if (call !== 'put') return;
    puts += 1;
    // The second one is the manifest.
    if (puts !== 2) return;
    exchange(world);
    world.kill(world.calls, false);
    throw new StoreError('unavailable', 'the operator is killed');
  };
  await world.run();
  const after = world.etcd.process(HOSTS[0] ?? '').cluster.id;
  expect(after).not.toBe(before);
  return { world, before };
}

it.each([
  ['single', {}],
  ['periodic', { backupPolicy: { backupIntervalInSecond: 3600 } }],
] as const)(
  'a %s backup that was cut short before its manifest, by a restore of the cluster, is reported as one of the cluster before',
  async (_, spec) => {
    const { world, before } = await cutShortByRestore(spec);
    expect(world.objects).toHaveLength(1);
    const [entry] = world.status.history ?? [];
    expect(entry).toMatchObject({ clusterID: before });
    expect(world.manifest(world.objects[0] ?? '')?.entry).toEqual(entry);
    // Which version wrote it the members of today do not say.
    expect(entry?.etcdVersion).toBeUndefined();
  },
);

it('such a backup is not compared with the cluster that there is now', async () => {
  const images: string[] = [];
  const { world } = await cutShortByRestore({ verify: 'Restore' }, images);
  expect(images.length).toBeGreaterThan(0);
  for (const image of images) expect(image).toMatch(/:v\d+\.\d+\.\d+$|^operator:test$/);
  expect(world.status).toMatchObject({ succeeded: true });
  expect(world.status.history?.[0]?.verified).toBe('Structure');
  expect(world.status.lastRun?.message).toContain('hash');
});
