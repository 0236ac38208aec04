/** A time zone that the API server cannot distinguish from a good one: reported in a condition, and nothing is done on a guess. */
import { describe, expect, it } from 'vitest';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { snapshotStream } from '../../fakes/etcd/snapshot.ts';

const DATABASE = Buffer.alloc(128 * 512, 'etcd');
const HOUR = 3_600_000;

function aWorld(spec: EtcdBackupSpec): BackupWorld {
  const world = new BackupWorld(spec);
  world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
  return world;
}

describe('a schedule in a time zone that there is not', () => {
  const nightly = (timeZone: string): EtcdBackupSpec => ({
    ...SPEC,
    backupPolicy: { schedule: '30 2 * * *', timeZone, retention: { daily: 1 } },
  });
  const said = (world: BackupWorld) => world.status.conditions?.find(({ type }) => type === 'ScheduleValid');

  it('is said to be wrong within one pass, and takes no backup', async () => {
    const world = aWorld(nightly('Europe/Berlinn'));
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'SpecInvalid' });
    expect(said(world)).toMatchObject({ status: 'False', reason: 'Malformed' });
    expect(said(world)?.message).toContain('"Europe/Berlinn": Europe/Berlinn is no time zone');
    expect(world.objects).toEqual([]);
    await world.delete();
    expect((await world.run()).decision.kind).toBe('gone');
  });

  it('stops one that lives with a message and an event, and keeps every backup until it is put right', async () => {
    const world = aWorld(nightly('Europe/Berlin'));
    for (const _ of ['one', 'two', 'three']) {
      world.now += 24 * HOUR;
      await world.run();
    }
    const { objects } = world;
    expect(objects).not.toEqual([]);
    await world.edit(nightly('Europe/Berlinn'));
    world.now += 48 * HOUR;
    await world.run();
    expect(said(world)?.status).toBe('False');
    expect(world.status.nextRun).toBeUndefined();
    expect(world.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'Malformed' });
    expect(world.objects).toEqual(objects);
    await world.edit(nightly('Europe/Berlin'));
    await world.run();
    expect(said(world)?.status).toBe('True');
    world.now += 24 * HOUR;
    await world.run();
    expect(world.objects).not.toEqual(objects);
  });
});
