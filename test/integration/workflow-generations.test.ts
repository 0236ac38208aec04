/** An operator of another engine generation takes over in the middle of an operation: what runs is terminated and begun again. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENGINE_GENERATION, GENERATION_ATTRIBUTE } from '../../src/api/values/engine-generation.ts';
import { terminateOtherGenerations } from '../../src/main/temporal/generations.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { clusterOn, recordsOf } from '../worlds/cluster-on-temporal.ts';
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

it('a pause and an approval by signal survive another generation and the way back, also in the middle of an operation', async () => {
  const { world, entity } = await clusterOn(bench);
  const other = { taskQueue: entity.taskQueue, pause: () => pause(200), generation: ENGINE_GENERATION + 1 };
  /** An operator of another generation begins to watch, and goes back again: its workflows are begun anew. */
  const replaced = async () => {
    await until(async () => (await terminateOtherGenerations(bench.client, other)) > 0);
    await entity.changed();
    await until(async () => (await entity.status()).cluster !== undefined);
  };
  await until(() => world.cluster.status.operation === undefined);
  const ids = ['8e9e05c5'];
  await entity.handle.signal('approve', { operation: 'removeMember', ids, by: 'ana', reason: 'it is lost' });
  await until(() => world.cluster.status.signals?.approvals !== undefined);
  const pods = () => world.kube.all('Pod').map(({ metadata }) => metadata.name);
  world.kube.mutate(world.resource, object => {
    Object.assign(object['spec'] as object, { size: 5 });
    object.metadata.generation = (object.metadata.generation ?? 1) + 1;
  });
  await entity.changed();
  await until(() => world.cluster.status.operation?.type === 'scaleCluster');
  await entity.handle.signal('pause', { by: 'ana', reason: 'to look' });
  await until(() => world.cluster.status.signals?.pause !== undefined);
  for (let round = 0; round < 2; round += 1) {
    await replaced();
    await until(() => world.cluster.status.controlPaused === true);
    expect(await entity.status()).toMatchObject({
      paused: { by: 'ana', reason: 'to look' },
      approvals: [{ operation: 'removeMember', ids, by: 'ana', reason: 'it is lost' }],
    });
  }
  const before = pods();
  expect(before.length).toBeLessThan(5);
  await entity.handle.signal('resume', { by: 'ana' });
  await until(() => pods().length === 5);
  await until(() => world.cluster.status.signals?.pause === undefined);
  await replaced();
  expect((await entity.status()).paused).toBeUndefined();
  await until(() => recordsOf(world).some(({ type }) => type === 'scaleCluster'));
});
