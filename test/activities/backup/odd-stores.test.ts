/** EtcdBackups whose store is full of what killed writers left, or lists less than it has. */
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/store/port.ts';
import type { EtcdBackupSpec } from '../../../src/api/types.ts';
import { BackupWorld, SPEC } from '../../support/backup-world.ts';
import { snapshotStream } from '../../support/fake-snapshot.ts';

const DATABASE = Buffer.alloc(128 * 512, 'etcd');
const KEY = 'etcd/example';
const HOUR = 3_600_000;

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
