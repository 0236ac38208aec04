/** The workflow of an EtcdRestore on a real Temporal server, with activities that follow the test: what users can do to it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Activities, RestoreWorkflowState, RestoreDecision } from '../../src/activities/index.ts';
import { recordedOf } from '../../src/planner/model/steps/row.ts';
import { ETCD_RESTORE_STEPS } from '../../src/planner/restore/steps.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

const EXAMINING = { kind: 'examineBackup', generation: 1, location: 'it' } as const;
const EXAMINE: RestoreDecision = {
  kind: 'operate',
  step: EXAMINING,
  ...recordedOf(ETCD_RESTORE_STEPS, EXAMINING),
};

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 60_000);
afterAll(() => bench.stop());

it('a restore is not ended by a cancellation while the backup is read: its next run follows the restore to its end', async () => {
  const id = `etcdrestore/shop/back/${process.pid}-${bench.next()}`;
  const world = { decision: EXAMINE as RestoreDecision, examined: 0, looks: 0, release: () => {} };
  const held = new Promise<void>(resolve => void (world.release = resolve));
  const activities = {
    assessRestore: async () => {
      world.looks += 1;
      return { decision: world.decision, summary: { phase: 'Validating' } };
    },
    examineBackup: async () => {
      world.examined += 1;
      await held;
      world.decision = { kind: 'waiting' };
    },
  };
  await bench.serve({ taskQueue: id }, activities as unknown as Activities);
  const handle = bench.client.workflow.getHandle(id);
  await bench.client.workflow.start('etcdRestore', {
    workflowId: id,
    taskQueue: id,
    args: [{ namespace: 'shop', name: 'back', uid: 'back-uid' }],
  });
  await until(() => world.examined === 1);
  const { runId } = await handle.describe();
  await handle.cancel();
  world.release();
  await until(async () => (await handle.describe()).runId !== runId);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  expect(world.examined).toBe(1);
  const { looks } = world;
  // It can be cancelled again, also while it waits.
  await handle.cancel();
  await until(() => world.looks > looks);
  world.decision = { kind: 'ended' };
  await handle.signal('resync');
  await handle.result();
});

it('a refused restore makes a pass on each signal, and examines the backup again once on resync', async () => {
  const id = `etcdrestore/shop/back/${process.pid}-${bench.next()}`;
  const refused: RestoreDecision = { kind: 'refused', reason: 'NotConfirmed', message: 'not confirmed' };
  const world = { decision: refused as RestoreDecision, workflowStates: [] as RestoreWorkflowState[] };
  const activities = {
    assessRestore: async (
      _: unknown,
      { workflowState }: { readonly workflowState: RestoreWorkflowState },
    ) => {
      world.workflowStates.push(workflowState);
      return { decision: world.decision, summary: { phase: 'Refused' } };
    },
  };
  await bench.serve({ taskQueue: id }, activities as unknown as Activities);
  const handle = bench.client.workflow.getHandle(id);
  await bench.client.workflow.start('etcdRestore', {
    workflowId: id,
    taskQueue: id,
    args: [{ namespace: 'shop', name: 'back', uid: 'back-uid' }],
  });
  for (const [looks, signal] of ['changed', 'resync', 'changed'].entries()) {
    await until(() => world.workflowStates.length === looks + 1);
    await handle.signal(signal);
  }
  await until(() => world.workflowStates.length === 4);
  expect(world.workflowStates).toEqual([{}, {}, { again: true }, {}]);
  world.decision = { kind: 'ended' };
  await handle.signal('changed');
  await handle.result();
});
