/** The clock was ahead for hours, backups were taken by it, and it is put right: none of a time to come stands for one that is due. */
import { expect, it } from 'vitest';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { snapshotStream } from '../../fakes/etcd/snapshot.ts';

const at = (time: string): number => Date.parse(`2026-11-21T${time}Z`);

/** Passes at these times, each a second later; how many snapshots were begun by then. */
async function passes(world: BackupWorld, times: readonly string[]): Promise<void> {
  for (const time of times) {
    world.now = at(time) - 1_000;
    await world.run();
  }
}

function aWorld(backupPolicy: NonNullable<EtcdBackupSpec['backupPolicy']>) {
  const world = new BackupWorld({ ...SPEC, backupPolicy });
  let taken = 0;
  world.etcd.snapshotOf = () => {
    taken += 1;
    return snapshotStream(Buffer.alloc(128 * 512, `etcd${taken}`), 3_000);
  };
  return { world, taken: () => taken };
}

it.each([
  ['a cron schedule', { schedule: '0 * * * *' }],
  ['an interval', { backupIntervalInSecond: 3600 }],
] as const)('%s goes on within its next time', async (_, policy) => {
  const { world, taken } = aWorld(policy);
  await passes(world, ['11:00:00', '12:00:00', '13:00:00']);
  const before = taken();
  await passes(world, ['10:30:00', '10:59:59', '11:30:00', '11:31:00']);
  expect(taken()).toBe(before + 1);
  expect(world.status.history).toHaveLength(before + 1);
});

it('a backup that is due in the same second as one of the time ahead is one of its own', async () => {
  const { world, taken } = aWorld({ schedule: '0 * * * *' });
  await passes(world, ['11:00:00', '12:00:00', '13:00:00']);
  await passes(world, ['11:30:00', '12:00:00']);
  expect(taken()).toBe(4);
  expect(world.status).toMatchObject({ phase: 'Scheduled', succeeded: true });
  expect(new Set(world.objects).size).toBe(4);
});

it('a clock that is a little behind, as another replica’s, has no backup taken twice', async () => {
  const { world, taken } = aWorld({ schedule: '0 * * * *' });
  await passes(world, ['11:00:00', '12:00:00', '11:59:30', '12:00:01', '12:00:02']);
  expect(taken()).toBe(2);
});
