/** The workflows of EtcdBackups on a real Temporal server, over a world in memory: users, deletions and terminations in the middle. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BackupEntity } from '../worlds/backup-bench.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 60_000);
afterAll(() => bench.stop());

/** A backup whose snapshot is under way and does not continue. */
async function held(): Promise<{ readonly entity: BackupEntity; readonly release: () => void }> {
  const entity = await BackupEntity.on(bench);
  const release = entity.world.holdSnapshots();
  await entity.changed();
  await until(() => entity.world.snapshots > 0);
  return { entity, release };
}

it('takes one backup, shows its state, and waits', async () => {
  const entity = await BackupEntity.on(bench);
  await entity.changed();
  await entity.came('Succeeded');
  expect(entity.world.objects).toHaveLength(1);
  expect(await entity.handle.query('status')).toMatchObject({
    backup: { phase: 'Succeeded', succeeded: true },
  });
  expect(await entity.handle.query('plan')).toEqual({ steps: [] });
});

it('takes one backup for each request of a person', async () => {
  const entity = await BackupEntity.on(bench, { backupPolicy: { backupIntervalInSecond: 3600 } });
  await entity.changed();
  await entity.came('Succeeded');
  expect(await entity.handle.executeUpdate('backup', { args: [{ by: 'ana' }] })).toBe('a backup is starting');
  await until(() => entity.world.objects.length === 2);
  await entity.quiet();
  expect(entity.world.status.lastRun).toMatchObject({ requestedBy: 'ana', outcome: 'Succeeded' });
  expect(entity.world.objects).toHaveLength(2);
});

it('ends a backup that a person aborts, in the middle of its snapshot', async () => {
  const { entity, release } = await held();
  expect(await entity.handle.executeUpdate('abort', { args: [{ by: 'ana', reason: 'too slow' }] })).toBe(
    'takeBackup is aborted',
  );
  await entity.came('Aborted');
  release();
  expect(entity.world.status).toMatchObject({ succeeded: false, Reason: 'aborted by ana (too slow)' });
  expect(entity.world.status.progress).toBeUndefined();
  expect(entity.world.objects).toEqual([]);
});

it('ends a backup whose resource is deleted, and then itself', async () => {
  const { entity, release } = await held();
  await entity.world.delete();
  expect(entity.world.backup.metadata.deletionTimestamp).toBeDefined();
  await entity.changed();
  await entity.handle.result();
  release();
  expect(() => entity.world.backup).toThrow('gone');
  expect(entity.world.objects).toEqual([]);
});

it('continues from what is recorded after it was terminated, and starts no second backup', async () => {
  const { entity, release } = await held();
  await entity.handle.terminate('by a person');
  await entity.changed();
  await until(async () => (await entity.handle.describe()).status.name === 'RUNNING');
  release();
  await entity.came('Succeeded');
  expect(entity.world.snapshots).toBe(1);
  expect(entity.world.objects).toHaveLength(1);
});

it('shows that its run was terminated, and can start the next one', async () => {
  const { entity, release } = await held();
  await entity.operation.terminate('by a person');
  await entity.came('Failed');
  release();
  expect(entity.world.status.Reason).toContain('ended without a result');
  expect(entity.world.backup.metadata.finalizers ?? []).toEqual([]);
});
