/** Histories that are as long as they become: of an operation, and of entities with and without one. */
import type { WorkflowHandle } from '@temporalio/client';
import type { RestoreAssessment } from '../../src/activities/index.ts';
import type { ObstacleReason } from '../../src/api/obstacles/catalogue.ts';
import { BackupEntity } from '../../test/worlds/backup-bench.ts';
import { creation, REPAIR, Script, scriptedActivities } from '../../test/worlds/scripted-activities.ts';
import { until, type WorkflowBench } from '../../test/worlds/workflow-bench.ts';
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

  /** A step that takes so long that EtcdRequests are judged meanwhile. */
  async function judgedDuringStep(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'awaitQuorum', () => entity.changed());
    await entity.changed();
    await until(async () => (await entity.summaries('entity')).some(summary => summary.startsWith('record')));
    release();
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    return { 'etcdCluster-during-step': entity.handle };
  },

  async function backupContinued(bench) {
    const backupPolicy = { backupIntervalInSecond: 3600, maxBackups: 3 };
    const entity = await BackupEntity.on(bench, { backupPolicy }, RECORDER);
    await entity.changed();
    const first = await entity.run();
    await continued(first, () => entity.changed());
    return { 'etcdBackup-long': first };
  },

  /** A step that is performed and planned again all the same: a timer stands between two attempts. */
  async function repeatedInVain(bench) {
    const script = new Script();
    script.plan('rolloutCluster', REPAIR.slice(0, 1));
    script.stubborn.add('restartMember');
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'restartMember', () => entity.changed());
    const repeated = await entity.operationRun();
    release();
    await repeated.result();
    return { 'rolloutCluster-repeated': repeated };
  },

  /** Objects that somebody keeps changing: the fourth time they are fixed after a pause. */
  async function mendedEverMoreSeldom(bench) {
    return { 'etcdCluster-pausing': await editedFourTimes(bench, new Script()) };
  },

  /** The same, fixed by passes until it has to wait. */
  async function repairedByPasses(bench) {
    const script = new Script();
    script.passesRepair = true;
    return { 'etcdCluster-repaired-by-passes': await editedFourTimes(bench, script) };
  },

  /** A restore that cannot begin, for another reason each time, which its cluster reports. */
  async function restoreContinued(bench) {
    const entity = bench.entity();
    let passes = 0;
    // Of no catalogue: only that it is another one counts.
    const another = () => `Reason${(passes += 1)}` as ObstacleReason;
    const activities = {
      ...scriptedActivities(new Script()),
      assessRestore: async (): Promise<RestoreAssessment> => ({
        decision: { kind: 'blocked', reason: another(), message: 'it cannot begin' },
        summary: { phase: 'Pending' },
        cluster: { namespace: 'shop', name: 'example', uid: '7c3f5b0e-1111-4d5e-8a53-7c2d3a1f9e10' },
      }),
    };
    await bench.serve(entity, activities, RECORDER);
    const resource = { namespace: 'shop', name: 'late', uid: '4a1d2c3b-55a2-4d5e-8a53-7c2d3a1f9e10' };
    const begun = await bench.client.workflow.signalWithStart('etcdRestore', {
      workflowId: 'etcdrestore/shop/late/4a1d2c3b',
      taskQueue: entity.taskQueue,
      args: [resource],
      signal: 'changed',
      signalArgs: [{}],
    });
    const first = bench.client.workflow.getHandle(begun.workflowId, (await begun.describe()).runId);
    await continued(first, () => begun.signal('changed', {}));
    await begun.terminate('recorded');
    return { 'etcdRestore-long': first };
  },
];

/** The workflow of a cluster whose client Service somebody has edited four times, each time as soon as it was put back. */
async function editedFourTimes(bench: WorkflowBench, script: Script): Promise<WorkflowHandle> {
  const entity = bench.entity();
  await bench.serve(entity, scriptedActivities(script), RECORDER);
  for (let time = 1; time <= 4; time += 1) {
    script.plan('repairCluster', [
      { kind: 'applyObjects', objects: [{ object: 'clientService', because: 'spec.selector' }] },
    ]);
    await entity.changed();
    await until(() => script.remaining.length === 0);
    await entity.quiet();
  }
  return entity.handle;
}
