/** The records of operations in status.history, on a real Temporal server and over runs of the entity: who asked, how each ended, in which run. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fault } from '../fakes/kubernetes/kube.ts';
import { edit } from '../worlds/living-cluster.ts';
import { clusterOn, recordsOf } from '../worlds/cluster-on-temporal.ts';
import { continued, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

it('each operation leaves one record, which says who asked, and stays over runs of the entity', async () => {
  const { world, entity } = await clusterOn(bench);
  await entity.update('restart', { member: `${entity.name}-1`, by: 'ana', reason: 'new kernel' });
  await continued(entity);
  await until(async () => {
    await entity.changed();
    const { requests } = await entity.status();
    return requests === undefined && recordsOf(world)[0]?.type === 'rolloutCluster';
  });
  const { runId } = await entity.operation.describe();
  expect(recordsOf(world)).toMatchObject([
    {
      type: 'rolloutCluster',
      outcome: 'Succeeded',
      requestedBy: 'ana',
      why: expect.stringMatching(/^a person requested it: new kernel/) as string,
      workflowID: entity.operation.workflowId,
      runID: runId,
    },
    { type: 'createCluster', outcome: 'Succeeded' },
  ]);

  // Nothing gets on, so that there is something to abort; a step of a cluster is not ended in its middle.
  let isHeld = true;
  world.kube.intercept(({ verb, kind, name }) => {
    if (isHeld && verb !== 'get' && kind === 'Pod' && name === `${entity.name}-3`)
      throw fault(503, 'ServiceUnavailable');
  });
  await edit(world, { size: 5 });
  await entity.changed();
  await until(async () => (await entity.status()).operation === 'scaleCluster');
  await entity.update('abort', { by: 'bob', reason: 'too large' });
  isHeld = false;
  await until(async () => {
    await entity.changed();
    return recordsOf(world)[0]?.type === 'scaleCluster';
  });
  const ended = recordsOf(world);
  expect(ended[0]).toMatchObject({
    outcome: 'Aborted',
    message: expect.stringContaining('aborted by bob (too large)') as string,
    from: '3',
    to: '5',
  });
  expect(ended[0]).not.toHaveProperty('requestedBy');
  await continued(entity);
  await entity.quiet();
  expect(recordsOf(world)).toEqual(ended);
  const runs = ended.map(({ runID }) => runID);
  expect(new Set(runs).size).toBe(runs.length);
});
