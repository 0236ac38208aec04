/** Namespaces share what a worker does: one that asks for much waits behind one that asks for little, not the reverse. */
import { CompleteAsyncError, Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Activities, Step } from '../../src/activities/index.ts';
import { type Kind, operationWorkflowId, type ResourceRef, workflowId } from '../../src/api/names.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { REPAIR, Script, scriptedActivities } from '../worlds/scripted-activities.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  // Of four partitions one may by chance not be polled for a while: turns are taken within each.
  const dynamicConfig = [
    'matching.enableFairness=true',
    'matching.numTaskqueueReadPartitions=1',
    'matching.numTaskqueueWritePartitions=1',
  ];
  bench = await WorkflowBench.start({ dynamicConfig });
}, 60_000);
afterAll(() => bench.stop());

const STORM = 30;

function resource(kind: Kind, namespace: string, index: number): ResourceRef {
  const uid = `${bench.next().toString(16).padStart(8, '0')}-uid`;
  return { kind, namespace, name: `example-${index}`, uid };
}

/** Signals all of them while a worker with one place is busy, and answers in which order they are looked at once it is free. */
async function orderOfPasses(reported: readonly ResourceRef[]): Promise<readonly string[]> {
  const queue = bench.entity();
  const { taskQueue } = queue;
  const port = temporalPort(() => bench.client, { taskQueue, deadlineMs: 20_000 });
  const order: string[] = [];
  const { promise: busy, resolve: release } = Promise.withResolvers<void>();
  const script = new Script();
  const scripted = scriptedActivities(script);
  const look =
    (kind: Kind, activity: (...args: never[]) => Promise<unknown>) =>
    async (ref: { readonly namespace: string }, ...rest: never[]): Promise<unknown> => {
      order.push(`${kind} ${ref.namespace}`);
      await busy;
      return kind === 'EtcdCluster' ? activity(ref as never, ...rest) : { decision: { kind: 'gone' } };
    };
  const activities = {
    ...scripted,
    assess: look('EtcdCluster', scripted.assess),
    assessBackup: look('EtcdBackup', scripted.assess),
  } as unknown as Activities;
  await bench.serve(queue, activities, { maxConcurrentActivityTaskExecutions: 1 });
  const { signal } = new AbortController();
  for (const ref of reported) {
    await port.signal(ref, {}, signal);
    await until(() => isPassAwaited(workflowId(ref)));
  }
  release();
  await until(() => order.length >= reported.length);
  return order;
}

it('a cluster in a calm namespace is looked at before most of a storm in another', async () => {
  const storm = Array.from({ length: STORM }, (_, index) => resource('EtcdCluster', 'stormy', index));
  const order = await orderOfPasses([...storm, resource('EtcdCluster', 'calm', 0)]);
  expect(order.indexOf('EtcdCluster calm')).toBeLessThan(STORM / 3);
});

it('clusters are looked at before backups', async () => {
  const nightly = Array.from({ length: STORM }, (_, index) => resource('EtcdBackup', 'calm', index));
  const order = await orderOfPasses([...nightly, resource('EtcdCluster', 'calm', 0)]);
  expect(order.indexOf('EtcdCluster calm')).toBeLessThan(STORM / 3);
});

/** Whether it is a pass that the workflow waits for. */
async function isPassAwaited(id: string): Promise<boolean> {
  const found = await bench.client.workflow
    .getHandle(id)
    .describe()
    .catch(() => undefined);
  return (found?.raw.pendingActivities ?? []).some(
    ({ activityType }) => activityType?.name?.startsWith('assess') === true,
  );
}

const MENDING: readonly Step[] = [
  { kind: 'applyObjects', objects: [{ object: 'clientService', because: 'spec.ports' }] },
];

/**
 * Has the operations of a storm ask for a pass each while the only place of the worker is taken, and a cluster in a calm namespace after
 * them. Answers behind how many of the storm the calm one is looked at.
 */
async function passesBefore(steps: readonly Step[]): Promise<number> {
  const queue = bench.entity();
  const { taskQueue } = queue;
  const port = temporalPort(() => bench.client, { taskQueue, deadlineMs: 20_000 });
  const { signal } = new AbortController();
  const undone = new Script();
  undone.plan('repairCluster', steps);
  // None of them heartbeats.
  undone.timing = { heartbeatSeconds: 600, startToCloseSeconds: 600, scheduleToCloseSeconds: 600 };
  const [ofStorm, ofCalm] = [scriptedActivities(undone), scriptedActivities(new Script())];
  const order: string[] = [];
  const begun: Uint8Array[] = [];
  let isBusy = false;
  const { promise: busy, resolve: release } = Promise.withResolvers<void>();
  const perform = async (): Promise<never> => {
    begun.push(Context.current().info.taskToken);
    // It continues without the place in the worker.
    throw new CompleteAsyncError();
  };
  const activities = {
    ...ofStorm,
    [steps[0]?.kind ?? '']: perform,
    assess: async (ref: { readonly namespace: string }, ...rest: never[]): Promise<unknown> => {
      if (isBusy) order.push(ref.namespace);
      if (ref.namespace === 'busy') await busy;
      return (ref.namespace === 'stormy' ? ofStorm : ofCalm).assess(ref as never, ...(rest as [never]));
    },
  } as unknown as Activities;
  await bench.serve(queue, activities, { maxConcurrentActivityTaskExecutions: 1 });
  const storm = Array.from({ length: STORM }, (_, index) => resource('EtcdCluster', 'stormy', index));
  for (const ref of storm) await port.signal(ref, {}, signal);
  await until(() => begun.length === STORM);
  isBusy = true;
  await port.signal(resource('EtcdCluster', 'busy', 0), {}, signal);
  await until(() => order.length === 1);
  for (const token of begun) await bench.client.activity.complete(token, 'done');
  for (const ref of storm) await until(() => isPassAwaited(operationWorkflowId(workflowId(ref))));
  const calm = resource('EtcdCluster', 'calm', 0);
  await port.signal(calm, {}, signal);
  await until(() => isPassAwaited(workflowId(calm)));
  undone.remaining = [];
  release();
  await until(() => order.includes('calm'));
  return order.slice(0, order.indexOf('calm')).filter(namespace => namespace === 'stormy').length;
}

it('a cluster in a calm namespace does not wait for a storm of operations that only fix Services', async () => {
  expect(await passesBefore(MENDING)).toBeLessThan(STORM / 3);
});

it('operations that start members again come before passes, also those of other namespaces', async () => {
  expect(await passesBefore(REPAIR)).toBeGreaterThan((STORM * 2) / 3);
});
