/** The watcher on a real Temporal server, with an apiserver in memory and the real reflectors. No worker runs. */
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { API_VERSION, type ResourceRef, workflowId } from '../../src/api/names.ts';
import type { ObjectRef } from '../../src/kube/port.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { silentMetrics } from '../../src/watcher/model/ports.ts';
import type { WatcherTimings } from '../../src/watcher/options.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { createWatcher } from '../../src/watcher/watcher.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { FakeKube } from '../fakes/kubernetes/kube.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';
import { ListLogger, noSurveyor } from '../watcher/fakes.ts';
import { IDLE, owned, refTo, resource } from '../watcher/objects.ts';

const TASK_QUEUE = 'watcher-integration';
let server: TemporalServer;
let client: Client;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startTemporal({
    dynamicConfig: ['system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2'],
  });
  const connection = await Connection.connect({
    address: server.address,
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 },
  });
  client = new Client({ connection });
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

afterAll(async () => {
  await client?.connection.close();
  await server?.stop();
});

interface Running {
  readonly kube: FakeKube;
  readonly watcher: Watcher;
  readonly logger: ListLogger;
  /** Signals so far. */
  readonly delivered: () => number;
}

async function run(
  { deadlineMs = 5_000, ...timings }: Partial<WatcherTimings> & { deadlineMs?: number } = {},
  taskQueue = TASK_QUEUE,
): Promise<Running> {
  const kube = new FakeKube();
  const logger = new ListLogger();
  const ours = kube.as(WATCHER_FIELD_MANAGER);
  let signals = 0;
  const watcher = createWatcher({
    kube: ours,
    reflector: options => new Reflector({ client: ours, ...options }),
    temporal: temporalPort(() => client, { taskQueue, deadlineMs }),
    health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
    surveyor: noSurveyor,
    recordEvent: () => {},
    options: { taskQueue, timings },
    logger,
    metrics: {
      ...silentMetrics,
      signalSent: (_, outcome) => void (signals += outcome === 'delivered' ? 1 : 0),
    },
  });
  await watcher.start();
  stops.push(() => watcher.stop());
  await until(() => watcher.synced());
  return { kube, watcher, logger, delivered: () => signals };
}

function until(holds: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  return vi
    .waitUntil(async () => (await holds()) === true, { timeout: timeoutMs, interval: 20 })
    .then(() => {});
}

const objectOf = (ref: ResourceRef): ObjectRef => ({ ...ref, apiVersion: API_VERSION });

/** A new generation of a resource, as an edit of its specification makes it. */
function edit(kube: FakeKube, ref: ResourceRef, generation: number): void {
  kube.mutate(objectOf(ref), object => {
    object.metadata.generation = generation;
  });
}

/** The generations that the signals in a workflow's history speak of. */
async function signalled(ref: ResourceRef): Promise<number[]> {
  const history = await client.workflow.getHandle(workflowId(ref)).fetchHistory();
  const signals = (history.events ?? []).filter(
    event => (event.workflowExecutionSignaledEventAttributes ?? undefined) !== undefined,
  );
  return signals.map(event => {
    expect(event.workflowExecutionSignaledEventAttributes?.signalName).toBe('changed');
    const data =
      event.workflowExecutionSignaledEventAttributes?.input?.payloads?.[0]?.data ?? new Uint8Array();
    const changed: unknown = JSON.parse(Buffer.from(data).toString());
    expect(Object.keys(changed as object).sort()).toEqual(['generation', 'resourceVersion']);
    return (changed as { generation: number }).generation;
  });
}

function condition(kube: FakeKube, ref: ResourceRef, type: string): string | undefined {
  const status = kube.peek(objectOf(ref))?.['status'] as
    | { conditions?: { type: string; status: string }[] }
    | undefined;
  return status?.conditions?.find(entry => entry.type === type)?.status;
}

describe('without any worker', () => {
  test('a workflow of each kind is started, named and searchable, and keeps its signals', async () => {
    const { kube, delivered } = await run();
    const refs = (['EtcdCluster', 'EtcdBackup', 'EtcdRestore'] as const).map(kind => refTo(kind, 'kinds'));
    for (const ref of refs) kube.seed(resource(ref));
    await until(() => delivered() === 3);
    const [cluster] = refs;
    if (cluster === undefined) throw new Error('no cluster');
    kube.seed(owned('Pod', 'kinds-0', cluster));
    await until(() => delivered() === 4);
    edit(kube, cluster, 2);
    await until(() => delivered() === 5);
    expect(await signalled(cluster)).toEqual([1, 1, 2]);
    for (const ref of refs) {
      const description = await client.workflow.getHandle(workflowId(ref)).describe();
      expect(description).toMatchObject({
        type: ref.kind.charAt(0).toLowerCase() + ref.kind.slice(1),
        taskQueue: TASK_QUEUE,
        status: { name: 'RUNNING' },
      });
      expect(description.raw.executionConfig?.defaultWorkflowTaskTimeout?.seconds?.toString()).toBe('10');
      expect(await description.staticSummary()).toBe(`${ref.kind} default/kinds`);
    }
    await until(async () => {
      const query = "EtcdNamespace = 'default' AND EtcdName = 'kinds'";
      return (await client.workflow.count(query)).count === 3;
    });
  });

  test('a resource whose workflow no worker runs says so', async () => {
    const { kube, delivered } = await run({
      workflowCheckMs: 100,
      noPassAfterMs: 1_000,
      noWorkerAfterMs: 1_000,
    });
    const ref = refTo('EtcdCluster', 'unheard');
    kube.seed(resource(ref));
    await until(() => delivered() === 1);
    await until(() => condition(kube, ref, 'PassFailing') === 'True');
    expect(JSON.stringify(kube.peek(objectOf(ref))?.['status'])).toContain('TasksNotCompleted');
    await client.workflow.getHandle(workflowId(ref)).terminate('a person tries something');
    await until(() => delivered() === 2);
  });

  test('a workflow that was started with another task queue stays there, and its resource says where', async () => {
    const ref = refTo('EtcdCluster', 'moved');
    const before = await run();
    before.kube.seed(resource(ref));
    await until(() => before.delivered() === 1);
    await before.watcher.stop();
    const { kube } = await run({ workflowCheckMs: 100, noPassAfterMs: 1_000 }, 'another');
    kube.seed(resource(ref));
    await until(() => condition(kube, ref, 'PassFailing') === 'True');
    const status = JSON.stringify(kube.peek(objectOf(ref))?.['status']);
    expect(status).toContain('OtherTaskQueue');
    expect(status).toContain(`to \\"${TASK_QUEUE}\\"`);
  });

  test('a workflow that a user terminated is started again by the next signal', async () => {
    const { kube, delivered } = await run();
    const ref = refTo('EtcdCluster', 'terminated');
    kube.seed(resource(ref));
    await until(() => delivered() === 1);
    const handle = client.workflow.getHandle(workflowId(ref));
    const { runId } = await handle.describe();
    await handle.terminate('a person tries something');
    edit(kube, ref, 2);
    await until(() => delivered() === 2);
    const again = await handle.describe();
    expect(again.status.name).toBe('RUNNING');
    expect(again.runId).not.toBe(runId);
  });

  test('a resource that is gone does not start its ended workflow again', async () => {
    const { kube, delivered, watcher } = await run();
    const ref = refTo('EtcdCluster', 'gone');
    kube.seed(resource(ref));
    await until(() => delivered() === 1);
    const handle = client.workflow.getHandle(workflowId(ref));
    await handle.terminate('it has done its work');
    await kube.delete(objectOf(ref));
    await until(() => delivered() === 2);
    expect((await handle.describe()).status.name).toBe('TERMINATED');
    expect(watcher.stats()).toMatchObject({ resources: 0, waiting: 0 });
  });
});

test('a server that is killed and started again loses no signal, and the resources say that it was away', async () => {
  const { kube, delivered, watcher } = await run({
    deadlineMs: 1_000,
    unavailableAfterMs: 500,
    reportEveryMs: 100,
    backoff: { firstMs: 100, maxMs: 500 },
  });
  const refs = Array.from({ length: 20 }, (_, index) => refTo('EtcdCluster', `outage-${index}`));
  for (const ref of refs) kube.seed(resource(ref, { status: IDLE }));
  await until(() => delivered() === 20);
  // In the middle of a wave of changes, so that some calls are under way.
  for (const ref of refs.slice(0, 10)) edit(kube, ref, 2);
  await server.kill();
  for (const ref of refs.slice(10)) edit(kube, ref, 2);
  await until(() => refs.some(ref => condition(kube, ref, 'TemporalUnavailable') === 'True'));
  for (const ref of refs) edit(kube, ref, 3);
  await until(() => refs.every(ref => condition(kube, ref, 'TemporalUnavailable') === 'True'));
  const restarted = Date.now();
  await server.restart();
  await until(() => watcher.stats().waiting === 0);
  await until(() => refs.every(ref => condition(kube, ref, 'TemporalUnavailable') === 'False'));
  process.stdout.write(`all delivered and said ${Date.now() - restarted} ms after the restart began\n`);
  for (const ref of refs) expect((await signalled(ref)).at(-1)).toBe(3);
});

test('10,000 events on 100 clusters in 10 s are a few signals each, the last of them after the last event', async () => {
  const { kube, watcher } = await run();
  const refs = Array.from({ length: 100 }, (_, index) => refTo('EtcdCluster', `storm-${index}`));
  for (const ref of refs) kube.seed(resource(ref, { status: IDLE }));
  const generations = new Map<string, number>();
  const began = performance.now();
  for (let event = 0; event < 10_000; event += 1) {
    const ref = refs[(event * 7_919) % refs.length];
    if (ref === undefined) throw new Error('no such cluster');
    generations.set(ref.name, event + 2);
    edit(kube, ref, event + 2);
    const aheadMs = event - (performance.now() - began);
    if (event % 50 === 49 && aheadMs > 0) await new Promise(resolve => setTimeout(resolve, aheadMs));
  }
  const lasted = performance.now() - began;
  await until(() => watcher.stats().waiting === 0);
  const settled = performance.now() - began - lasted;
  const counts: number[] = [];
  for (const ref of refs) {
    const seen = await signalled(ref);
    expect(seen.at(-1)).toBe(generations.get(ref.name));
    counts.push(seen.length);
  }
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  process.stdout.write(
    `storm of ${Math.round(lasted)} ms, settled ${Math.round(settled)} ms later: ` +
      `${Math.min(...counts)} to ${Math.max(...counts)} signals a cluster, ${mean.toFixed(1)} on average\n`,
  );
  expect(Math.max(...counts)).toBeLessThanOrEqual(10);
});

test('a workflow whose tasks keep failing is said on its resource, by the server’s own account', async () => {
  const { kube, delivered } = await run({ workflowCheckMs: 500 }, 'failing');
  const [sick, well] = [refTo('EtcdCluster', 'stuck'), refTo('EtcdCluster', 'well')];
  kube.seed(resource(sick));
  await until(() => delivered() >= 1);
  const end = new AbortController();
  const worker = failTasks('failing', end.signal);
  await until(() => condition(kube, sick, 'WorkflowStuck') === 'True', 60_000);
  end.abort();
  await expect(worker).rejects.toThrow('CANCELLED');
  expect(JSON.stringify(kube.peek(objectOf(sick))?.['status'])).toContain('NonDeterministicError');
  kube.seed(resource(well));
  // By its own history: on a busy machine the list of the stuck may fail, and then everything is enqueued again.
  await until(async () => (await signalled(well).catch(() => [])).length > 0);
  expect(condition(kube, well, 'WorkflowStuck')).toBeUndefined();
  await client.workflow.getHandle(workflowId(sick)).terminate('the way out that the condition names');
  await until(() => condition(kube, sick, 'WorkflowStuck') === 'False');
});

/** temporal.api.enums.v1.WorkflowTaskFailedCause */
const NON_DETERMINISTIC_ERROR = 24;

/** A worker whose code fits no history: it fails every workflow task of its queue. Rejects when it is aborted. */
async function failTasks(taskQueue: string, abort: AbortSignal): Promise<never> {
  const { connection } = client;
  const identity = 'a failing worker';
  for (;;) {
    // A signal that is raised while a task is answered would not end the next poll, which only hears of it being raised.
    if (abort.aborted) throw new Error('CANCELLED');
    const request = { namespace: 'default', taskQueue: { name: taskQueue }, identity };
    const poll = () => connection.workflowService.pollWorkflowTaskQueue(request);
    const { taskToken } = await connection.withAbortSignal(abort, () =>
      connection.withDeadline(Date.now() + 60_000, poll),
    );
    if (taskToken.length === 0) continue;
    const cause = NON_DETERMINISTIC_ERROR;
    await connection.workflowService.respondWorkflowTaskFailed({
      namespace: 'default',
      taskToken,
      cause,
      identity,
    });
  }
}
