/** The records of operations in status.history, on a real Temporal server and over runs of the entity: who asked, how each ended, in which run. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { GivenRequest } from '../../src/api/values/requests.ts';
import { fault } from '../fakes/kubernetes/kube.ts';
import { edit } from '../worlds/living-cluster.ts';
import { clusterOn, recordsOf } from '../worlds/cluster-on-temporal.ts';
import { continued, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

const uid = '5c1f6a51-8a64-4b52-9f3c-0d0f6f6f7a01';

it('each operation leaves one record, which says who asked, and stays over runs of the entity', async () => {
  const { world, entity } = await clusterOn(bench);
  const request = { uid, expiresAt: Date.now() + 3_600_000 };
  await entity.update('restart', { member: `${entity.name}-1`, by: 'ana', reason: 'new kernel', request });
  await continued(entity);
  await until(async () => {
    await entity.changed();
    const became = await entity.handle.query<GivenRequest | null, [string]>('request', uid);
    return became?.state === 'done' && recordsOf(world)[0]?.type === 'rolloutCluster';
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
