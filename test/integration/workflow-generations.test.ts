/** An operator of another engine generation takes over in the middle of an operation: what runs is terminated and begun again. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineSearchAttributeKey } from '@temporalio/common';
import { ENGINE_GENERATION, GENERATION_ATTRIBUTE } from '../../src/api/values/engine-generation.ts';
import { terminateOtherGenerations } from '../../src/main/temporal/generations.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { replaceDuringBackup, REPLACED_BACKUPS } from '../worlds/replaced-backups.ts';
import { REPLACED_OPERATIONS } from '../worlds/replaced-operations.ts';
import { replaceOperator } from '../worlds/replaced-operator.ts';
import { creation, scriptedActivities } from '../worlds/scripted-activities.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

it('runs of another generation, older or newer, are terminated in the middle of an operation, which goes on again', async () => {
  const script = creation();
  const entity = bench.entity();
  await bench.serve(entity, scriptedActivities(script));
  const release = script.hold('bootstrapMembers');
  const { taskQueue, ref } = entity;
  const port = temporalPort(() => bench.client, { taskQueue, deadlineMs: 20_000 });
  const changed = () => port.signal({ kind: 'EtcdCluster', ...ref }, {}, new AbortController().signal);
  await changed();
  await until(() => script.started.includes('bootstrapMembers'));
  const runs = async () => {
    const [resource, operation] = [await entity.handle.describe(), await entity.operation.describe()];
    return [resource.status.name, operation.status.name];
  };
  const visible = `TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running" AND ${GENERATION_ATTRIBUTE} = ${ENGINE_GENERATION}`;
  await until(async () => (await bench.client.workflow.count(visible)).count === 2);
  const options = { taskQueue, pause: () => pause(200) };
  const own = { ...options, generation: ENGINE_GENERATION };
  expect(await terminateOtherGenerations(bench.client, own)).toBe(0);
  expect(await runs()).toEqual(['RUNNING', 'RUNNING']);
  for (const generation of [ENGINE_GENERATION + 1, ENGINE_GENERATION - 1]) {
    expect(await terminateOtherGenerations(bench.client, { ...options, generation })).toBe(2);
    expect(await runs()).toEqual(['TERMINATED', 'TERMINATED']);
    const begun = script.started.length;
    await changed();
    await until(() => script.started.length > begun);
    await until(async () => (await bench.client.workflow.count(visible)).count === 2);
  }
  release();
  await until(() => script.remaining.length === 0);
  await entity.quiet();
  expect((await entity.handle.describe()).status.name).toBe('RUNNING');
});

it('a run of another generation gets nothing from a worker of this one, and is carried out by a worker of its own', async () => {
  const script = creation();
  const entity = bench.entity();
  await bench.serve(entity, scriptedActivities(script));
  const key = defineSearchAttributeKey(GENERATION_ATTRIBUTE, 'INT');
  await entity.changed([{ key, value: ENGINE_GENERATION + 1 }]);
  const failed = async () =>
    (await entity.eventTypes()).includes('workflowTaskFailedEventAttributes') ||
    script.workflowStates.length > 0;
  await until(failed);
  expect(script.workflowStates).toEqual([]);
  expect((await entity.handle.describe()).status.name).toBe('RUNNING');
  await bench.serveWorkflows(entity, ENGINE_GENERATION + 1);
  await until(() => script.remaining.length === 0);
  await entity.quiet();
  expect((await entity.operation.describe()).status.name).toBe('COMPLETED');
  expect(await entity.presentEventTypes('operation')).not.toContain('workflowTaskFailedEventAttributes');
});

/** Every operation has its row in workflow-generations.long.test.ts; these show that the rows can be run. */
it.each([
  ['scaleCluster', REPLACED_OPERATIONS.scaleCluster[0]],
  ['moveLeader', REPLACED_OPERATIONS.moveLeader[0]],
] as const)(
  '%s: a pause, an approval and what was requested outlive another generation and the way back',
  (operation, row) => replaceOperator(bench, operation, row),
);

it('a backup on request outlives another generation and the way back', () =>
  replaceDuringBackup(bench, 'takeBackup', REPLACED_BACKUPS.takeBackup[0]));
