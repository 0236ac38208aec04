/** Histories that are as long as they become: of an operation, and of entities with and without one. */
import type { WorkflowHandle } from '@temporalio/client';
import { BackupEntity } from '../../test/worlds/backup-bench.ts';
import { creation, REPAIR, Script, scriptedActivities } from '../../test/worlds/scripted-activities.ts';
import { until } from '../../test/worlds/workflow-bench.ts';
import { holding, RECORDER, type Scenario } from './scenario.ts';

/** Wakes a workflow until its run continues as new, each time once it has done what the last one caused. */
async function continued(run: WorkflowHandle, wake: () => Promise<void>): Promise<void> {
  const seen = async () => {
    const { status, raw } = await run.describe();
    const isBusy = (raw.pendingActivities ?? []).length > 0 || (raw.pendingWorkflowTask ?? null) !== null;
    return { isRunning: status.name === 'RUNNING', isBusy };
  };
  while ((await seen()).isRunning) {
    await wake();
    await until(async () => {
      const { isRunning, isBusy } = await seen();
      return !isRunning || !isBusy;
    });
  }
}

export const longHistories: readonly Scenario[] = [
  async function handedBack(bench) {
    const script = new Script();
    script.plan('repairCluster', Array.from({ length: 4 }, () => REPAIR).flat());
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'restartMember', () => entity.changed());
    const first = await entity.operationRun();
    release();
    await until(() => script.remaining.length === 0);
    return { 'repairCluster-handed-back': first };
  },

  async function continuedBesideItsOperation(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'awaitQuorum', () => entity.changed());
    const first = await entity.run();
    await continued(first, () => entity.changed());
    release();
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    return { 'etcdCluster-beside-operation': first, 'etcdCluster-following': entity.handle };
  },

  async function backupContinued(bench) {
    const backupPolicy = { backupIntervalInSecond: 3600, maxBackups: 3 };
    const entity = await BackupEntity.on(bench, { backupPolicy }, RECORDER);
    await entity.changed();
    const first = await entity.run();
    await continued(first, () => entity.changed());
    return { 'etcdBackup-long': first };
  },
];
