/**
 * Signals to the workflows of backups and restores as the older `tctl` sends them (workflow-tctl.test.ts has those of clusters): with whatever
 * a person could have typed each takes effect, and the workflow continues.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Activities, RestoreWorkflowState, RestoreDecision } from '../../src/activities/index.ts';
import { attribution } from '../../src/planner/model/workflow-state.ts';
import { BackupEntity } from '../worlds/backup-bench.ts';
import { faultsOf, historiesOf } from '../worlds/histories.ts';
import { sendTyped, TYPED } from '../worlds/typed-signals.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

const HOURLY = { backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 5 } };

/** One that has taken its first backup and waits for the next. */
async function resting(): Promise<BackupEntity> {
  const entity = await BackupEntity.on(bench, HOURLY);
  await entity.changed();
  await entity.came('Succeeded');
  return entity;
}

async function expectNoFailedTask(id: string): Promise<void> {
  expect(faultsOf(await historiesOf(bench.client, id))).toEqual([]);
}

const pausedOf = async ({ handle }: BackupEntity) =>
  (await handle.query<{ readonly paused?: object }>('status')).paused;

const saysPaused = ({ world }: BackupEntity, message: string) =>
  (world.status.conditions ?? []).some(is => is.type === 'Paused' && is.message === message);

describe.concurrent('the workflow of a backup', () => {
  it.each(TYPED)('takes one backup after the signal backup with %s', async (_, typed, request) => {
    const entity = await resting();
    await sendTyped(bench, entity.id, 'backup', typed);
    await until(() => entity.world.objects.length === 2);
    await entity.quiet();
    expect(entity.world.objects).toHaveLength(2);
    expect(entity.world.status.lastRun).toMatchObject({
      outcome: 'Succeeded',
      requestedBy: attribution(request),
    });
    await expectNoFailedTask(entity.id);
  });

  it.each(TYPED)(
    'starts no backup after pause with %s, and starts it after resume',
    async (_, typed, request) => {
      const entity = await resting();
      await sendTyped(bench, entity.id, 'pause', typed);
      await until(async () => (await pausedOf(entity)) !== undefined);
      expect(await pausedOf(entity)).toEqual(request);
      await entity.handle.signal('backup', { by: 'carl' });
      await until(() => saysPaused(entity, `paused by ${attribution(request)}`));
      await entity.quiet();
      expect(entity.world.objects).toHaveLength(1);
      await sendTyped(bench, entity.id, 'resume', typed);
      await until(() => entity.world.objects.length === 2);
      expect(await pausedOf(entity)).toBeUndefined();
      await expectNoFailedTask(entity.id);
    },
  );

  it.each(TYPED)('ends the running backup after abort with %s', async (_, typed, request) => {
    const entity = await BackupEntity.on(bench, HOURLY);
    const release = entity.world.holdSnapshots();
    await entity.changed();
    await until(() => entity.world.snapshots > 0);
    await sendTyped(bench, entity.id, 'abort', typed);
    await entity.came('Aborted');
    release();
    expect(entity.world.status.Reason).toBe(`aborted by ${attribution(request)}`);
    expect(entity.world.objects).toEqual([]);
    await expectNoFailedTask(entity.id);
  });

  it.each(TYPED)('looks into the store again after resync with %s', async (_, typed) => {
    const entity = await resting();
    let listed = 0;
    entity.world.store.beforeCall = call => void (listed += call === 'list' ? 1 : 0);
    await sendTyped(bench, entity.id, 'resync', typed);
    await until(() => listed > 0);
    await entity.quiet();
    expect(entity.world.objects).toHaveLength(1);
    await expectNoFailedTask(entity.id);
  });
});

describe.concurrent('the workflow of a restore that is refused', () => {
  it.each(TYPED)('examines its backup again after resync with %s', async (_, typed) => {
    const id = `etcdrestore/shop/back/${process.pid}-${bench.next()}`;
    const workflowStates: RestoreWorkflowState[] = [];
    let decision: RestoreDecision = { kind: 'refused', reason: 'NotConfirmed', message: 'not confirmed' };
    const activities = {
      assessRestore: async (
        _ref: unknown,
        { workflowState }: { readonly workflowState: RestoreWorkflowState },
      ) => {
        workflowStates.push(workflowState);
        return { decision, summary: { phase: 'Refused' } };
      },
    };
    await bench.serve({ taskQueue: id }, activities as unknown as Activities);
    const handle = bench.client.workflow.getHandle(id);
    await bench.client.workflow.start('etcdRestore', {
      workflowId: id,
      taskQueue: id,
      args: [{ namespace: 'shop', name: 'back', uid: 'back-uid' }],
    });
    await until(() => workflowStates.length === 1);
    await sendTyped(bench, id, 'resync', typed);
    await until(() => workflowStates.length === 2);
    expect(workflowStates).toEqual([{}, { again: true }]);
    // What only clusters and backups understand changes nothing, and stops nothing.
    for (const name of ['pause', 'abort']) await sendTyped(bench, id, name, typed);
    decision = { kind: 'ended' };
    await sendTyped(bench, id, 'changed', typed);
    await handle.result();
    expect(workflowStates).toEqual([{}, { again: true }, {}]);
    await expectNoFailedTask(id);
  });
});
