/** Histories of backups and restores. */
import { copiesWorkflowId } from '../../src/api/names.ts';
import type { RestoreDecision } from '../../src/activities/index.ts';
import { recordedOf } from '../../src/planner/model/steps/row.ts';
import { ETCD_RESTORE_STEPS } from '../../src/planner/restore/steps.ts';
import { StoreError } from '../../src/store/port.ts';
import { SECOND_STORE } from '../../test/worlds/backup-world.ts';
import { BackupEntity } from '../../test/worlds/backup-bench.ts';
import { Script, scriptedActivities } from '../../test/worlds/scripted-activities.ts';
import { until } from '../../test/worlds/workflow-bench.ts';
import { RECORDER, type Scenario } from './scenario.ts';

export const backupHistories: readonly Scenario[] = [
  async function restored(bench) {
    const entity = bench.entity();
    const step = { kind: 'examineBackup', generation: 1, location: 'a backup' } as const;
    const decisions: RestoreDecision[] = [
      { kind: 'operate', step, ...recordedOf(ETCD_RESTORE_STEPS, step) },
      { kind: 'waiting' },
    ];
    const activities = {
      ...scriptedActivities(new Script()),
      assessRestore: async () => ({ decision: decisions.shift() ?? { kind: 'ended' }, summary: {} }),
      examineBackup: async () => undefined,
    };
    await bench.serve(entity, activities, RECORDER);
    const handle = await bench.client.workflow.signalWithStart('etcdRestore', {
      workflowId: 'etcdrestore/shop/back/0b7e6e34',
      taskQueue: entity.taskQueue,
      args: [{ namespace: 'shop', name: 'back', uid: '0b7e6e34-55a2-4d5e-8a53-7c2d3a1f9e10' }],
      signal: 'changed',
      signalArgs: [{}],
    });
    await handle.result();
    return { 'etcdRestore-restored': handle };
  },

  async function backedUp(bench) {
    const backupPolicy = { backupIntervalInSecond: 3600, maxBackups: 3 };
    const entity = await BackupEntity.on(bench, { backupPolicy }, RECORDER);
    await entity.changed();
    await entity.came('Succeeded');
    const taken = await entity.run(entity.operation);
    await entity.handle.signal('backup', { by: 'a person' });
    await until(() => entity.world.objects.length === 2);
    await entity.quiet();
    await entity.handle.executeUpdate('pause', { args: [{ by: 'a person' }] });
    await entity.handle.executeUpdate('resume', { args: [{ by: 'a person' }] });
    await entity.quiet();
    await entity.world.delete();
    await entity.changed();
    await entity.handle.result();
    return { 'etcdBackup-periodic': entity.handle, 'pruneBackups-pruned': taken };
  },

  async function backupStopped(bench) {
    const entity = await BackupEntity.on(bench, {}, RECORDER);
    const release = entity.world.holdSnapshots();
    await entity.changed();
    await until(() => entity.world.status.progress !== undefined);
    await until(() => entity.world.snapshots > 0);
    const taken = await entity.run(entity.operation);
    await entity.world.delete();
    await entity.changed();
    await taken.result();
    await entity.handle.result();
    release();
    return {
      'etcdBackup-deleted': entity.handle,
      'takeBackup-stopped': taken,
      'releaseBackup-released': entity.operation,
    };
  },

  async function backupCopied(bench) {
    const entity = await BackupEntity.on(bench, { secondStore: SECOND_STORE }, RECORDER);
    await entity.changed();
    await until(() => entity.world.status.history?.[0]?.heldIn === 'Both');
    const copies = bench.client.workflow.getHandle(copiesWorkflowId(entity.id));
    await copies.result();
    await entity.quiet();
    await entity.world.delete();
    await entity.changed();
    await entity.handle.result();
    return { 'etcdBackup-copied': entity.handle, 'copyBackups-copied': copies };
  },

  async function backupFailed(bench) {
    const entity = await BackupEntity.on(bench, {}, RECORDER);
    entity.world.store.beforeCall = () => {
      throw new StoreError('denied', 'the store refuses the credentials');
    };
    await entity.changed();
    await entity.came('Failed');
    return { 'etcdBackup-failed': entity.handle, 'takeBackup-failed': entity.operation };
  },

  async function backupTaken(bench) {
    const entity = await BackupEntity.on(bench, {}, RECORDER);
    await entity.changed();
    await entity.came('Succeeded');
    return { 'etcdBackup-once': entity.handle, 'takeBackup-taken': entity.operation };
  },

  async function storedBackupVerified(bench) {
    const entity = await BackupEntity.on(bench, {}, RECORDER);
    await entity.changed();
    await entity.came('Succeeded');
    const asked = { level: 'Restore', by: 'a person' };
    const release = entity.world.holdVerifications();
    await entity.handle.executeUpdate('verify', { args: [asked] });
    await until(() => entity.world.held > 0);
    const verified = await entity.run(entity.operation);
    release();
    const kubelet = setInterval(() => entity.world.verifier.settle(), 100);
    await until(() => entity.world.status.verification?.completedAt !== undefined)
      .then(() => entity.quiet())
      .finally(() => clearInterval(kubelet));
    await entity.handle.executeUpdate('verify', {
      args: [{ location: 'nowhere', by: 'a person' }],
    });
    await entity.quiet();
    return { 'etcdBackup-verified-on-request': entity.handle, 'verifyStoredBackup-verified': verified };
  },

  async function backupVerified(bench) {
    const entity = await BackupEntity.on(bench, { verify: 'Restore' }, RECORDER);
    const kubelet = setInterval(() => entity.world.verifier.settle(), 100);
    await entity.changed();
    await entity.came('Succeeded').finally(() => clearInterval(kubelet));
    return { 'takeBackup-verified': entity.operation };
  },
];
