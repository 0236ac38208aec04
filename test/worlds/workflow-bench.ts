/** A real Temporal server with the real workflows, for tests: every test gets a task queue and a resource of its own. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../../src/activities/index.ts';
import { ENGINE_GENERATION } from '../../src/api/values/engine-generation.ts';
import { bundleWorkflows } from '../../src/main/temporal/workflow-bundle.ts';
import type { PlanAnswer, StatusAnswer } from '../../src/workflows/messages/cluster.ts';
import { changedSignal, transfersQueue } from '../../src/workflows/messages/resource.ts';
import { poll } from '../stack/poll.ts';
import { eventsOf, eventTypesOf, type History, historiesOf } from './histories.ts';
import { type Script, scriptedActivities } from './scripted-activities.ts';
import { startTemporal, type TemporalServer, type TemporalServerOptions } from '../stack/temporal-server.ts';

/** The environment variable that names the bundle which the setup of a run has made (test/stack/integration-setup.ts). */
export const BUNDLE_OF_RUN = 'TEST_WORKFLOW_BUNDLE';

/** The real workflows, as the worker loads them. */
export async function bundleOfWorkflows(): Promise<string> {
  const path = process.env[BUNDLE_OF_RUN];
  if (path !== undefined) return readFile(path, 'utf8');
  return bundleWorkflows(fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)), QUIET);
}

/** The identity of the workers of another release. */
export const BESIDE = 'beside';

/** What is expected to go wrong here is asserted, not read. */
export const QUIET = new DefaultLogger('ERROR', () => {});

/** As far as the tests read it (temporal.api.sdk.v1.WorkflowMetadata). */
interface WorkflowMetadata {
  readonly currentDetails?: string;
  readonly definition?: { readonly signalDefinitions?: readonly { readonly name: string }[] };
}

/** Waits until the condition holds. The limit is for what hangs: a machine that is busy is no failure. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await poll(async () => condition(), { timeoutMs: 110_000, intervalMs: 25 });
}

/** Keeps the SDK from writing to the terminal; once a process, before anything else of it. */
export function beQuiet(): void {
  Runtime.install({ logger: QUIET, telemetryOptions: { logging: { filter: 'OFF' } } });
}

/** Wakes the entity until another run of it continues. */
export async function continued(entity: Pick<Entity, 'handle' | 'changed'>): Promise<void> {
  const { runId } = await entity.handle.describe();
  const wake = async () => {
    await Promise.all(Array.from({ length: 5 }, () => entity.changed()));
    return (await entity.handle.describe()).runId !== runId;
  };
  await poll(wake, { timeoutMs: 60_000, intervalMs: 25 });
}

/** One resource and its workflows. */
export class Entity {
  readonly name: string;
  readonly id: string;
  readonly taskQueue: string;
  readonly handle: WorkflowHandle;
  readonly operation: WorkflowHandle;
  readonly #client: Client;
  readonly ref: { readonly namespace: string; readonly name: string; readonly uid: string };

  constructor(client: Client, number: number) {
    const uid = `${process.pid.toString(16).padStart(6, '0')}${number.toString(16).padStart(2, '0')}-uid`;
    this.name = `example-${number}`;
    this.ref = { namespace: 'shop', name: this.name, uid };
    this.#client = client;
    this.taskQueue = `queue-${uid}`;
    this.id = `etcdcluster/shop/${this.name}/${uid.slice(0, 8)}`;
    this.handle = client.workflow.getHandle(this.id);
    this.operation = client.workflow.getHandle(`${this.id}/operation`);
  }

  /** What the watcher does: makes the workflow look, and starts it when it does not run. */
  async changed(typedSearchAttributes: SearchAttributePair[] = []): Promise<void> {
    await this.#client.workflow.signalWithStart('etcdCluster', {
      workflowId: this.id,
      taskQueue: this.taskQueue,
      args: [this.ref],
      signal: changedSignal,
      signalArgs: [{}],
      typedSearchAttributes,
    });
  }

  /** Waits for an operation to run and to end, and answers its result. */
  async ended(): Promise<unknown> {
    await until(() =>
      this.operation.describe().then(
        () => true,
        () => false,
      ),
    );
    return this.operation.result();
  }

  /** The present run of the entity alone: later runs have the same id. */
  async run(): Promise<WorkflowHandle> {
    return this.#client.workflow.getHandle(this.id, (await this.handle.describe()).runId);
  }

  /** The present run of the operation alone: later ones have the same id. */
  async operationRun(): Promise<WorkflowHandle> {
    return this.#client.workflow.getHandle(
      this.operation.workflowId,
      (await this.operation.describe()).runId,
    );
  }

  status(): Promise<StatusAnswer> {
    return this.handle.query<StatusAnswer>('status');
  }

  /** What an update answers; rejects with the reason when it is refused. */
  async update(name: string, argument: unknown): Promise<string> {
    try {
      return await this.handle.executeUpdate<string, [unknown]>(name, { args: [argument] });
    } catch (error) {
      throw error instanceof WorkflowUpdateFailedError ? (error.cause ?? error) : error;
    }
  }

  plan(): Promise<PlanAnswer> {
    return this.handle.query<PlanAnswer>('plan');
  }

  /** Names, descriptions and current details, as the UI asks for them. */
  metadata(): Promise<WorkflowMetadata> {
    return this.handle.query<WorkflowMetadata>('__temporal_workflow_metadata');
  }

  async currentDetails(): Promise<string> {
    return (await this.metadata()).currentDetails ?? '';
  }

  async searchAttributes(): Promise<Record<string, unknown>> {
    const { typedSearchAttributes } = await this.handle.describe();
    return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  }

  /** Of the present run and of all that it continues, the oldest first. */
  histories(of: 'entity' | 'operation' = 'entity'): Promise<History[]> {
    return historiesOf(this.#client, (of === 'entity' ? this.handle : this.operation).workflowId);
  }

  /** Names of the events' attributes of all runs, in order. */
  async eventTypes(of: 'entity' | 'operation' = 'entity'): Promise<string[]> {
    return eventTypesOf(await this.histories(of));
  }

  /** Names of the events' attributes of the present run, in order. */
  async presentEventTypes(of: 'entity' | 'operation' = 'entity'): Promise<string[]> {
    return eventTypesOf((await this.histories(of)).slice(-1));
  }

  /** How often the operation got what users requested; only the signals of this name, where one is given. */
  async operationControls(name?: string): Promise<number> {
    const signals = eventsOf(await this.histories('operation')).flatMap(event => {
      const signal = event.workflowExecutionSignaledEventAttributes;
      return signal ? [signal.signalName] : [];
    });
    return signals.filter(signal => name === undefined || signal === name).length;
  }

  /** Waits until the entity has handled what it was sent and waits for more: no task and no activity is under way. */
  async quiet(): Promise<void> {
    await until(async () => {
      const { raw } = await this.handle.describe();
      const busy = (raw.pendingActivities ?? []).length > 0 || (raw.pendingChildren ?? []).length > 0;
      return !busy && (raw.pendingWorkflowTask ?? null) === null;
    });
  }

  /** The one-line summaries of the activities, or of the timers, in the history, in order. */
  async summaries(
    of: 'entity' | 'operation',
    what: 'activities' | 'timers' = 'activities',
  ): Promise<string[]> {
    const attributes = {
      activities: 'activityTaskScheduledEventAttributes',
      timers: 'timerStartedEventAttributes',
    } as const;
    const events = eventsOf(await this.histories(of)).filter(event => event[attributes[what]]);
    return events.map(({ userMetadata }) => {
      const data = userMetadata?.summary?.data;
      return data ? (JSON.parse(Buffer.from(data).toString()) as string) : '';
    });
  }
}

interface RunningWorker {
  readonly worker: Worker;
  readonly running: Promise<void>;
}

export class WorkflowBench {
  readonly server: TemporalServer;
  readonly client: Client;
  readonly code: string;
  readonly #beside: string | undefined;
  readonly #connection: Connection;
  readonly #native: NativeConnection;
  #nativeBeside: NativeConnection | undefined;
  readonly #workers: RunningWorker[] = [];
  /** What runs the workflows of a task queue. */
  readonly #workflows = new Map<string, RunningWorker>();
  static #entities = 0;

  private constructor(
    server: TemporalServer,
    [code, beside]: readonly [string, string | undefined],
    connections: [Connection, NativeConnection],
  ) {
    this.server = server;
    this.code = code;
    this.#beside = beside;
    [this.#connection, this.#native] = connections;
    this.client = new Client({ connection: this.#connection, identity: 'test' });
  }

  /** @param beside the workflows of another release: each workflow task is then done by either, from the first event on */
  static async start(options: TemporalServerOptions = {}, beside?: string): Promise<WorkflowBench> {
    beQuiet();
    const [server, code] = await Promise.all([startTemporal(options), bundleOfWorkflows()]);
    const { address } = server;
    return new WorkflowBench(
      server,
      [code, beside],
      [await Connection.connect({ address }), await NativeConnection.connect({ address })],
    );
  }

  async stop(): Promise<void> {
    for (const { worker } of this.#workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.all(this.#workers.map(({ running }) => running));
    for (const native of [this.#native, this.#nativeBeside]) await native?.close();
    await this.#connection.close();
    await this.server.stop();
  }

  async #connectBeside(): Promise<NativeConnection> {
    this.#nativeBeside ??= await NativeConnection.connect({ address: this.server.address });
    return this.#nativeBeside;
  }

  /** A number that was not given out before. */
  next(): number {
    WorkflowBench.#entities += 1;
    return WorkflowBench.#entities;
  }

  /** A resource that nothing was started for yet. */
  entity(): Entity {
    return new Entity(this.client, this.next());
  }

  /** Starts the workflow of a new resource, with a worker whose activities follow the script. */
  async follow(script: Script, options: Partial<WorkerOptions> = {}): Promise<Entity> {
    const entity = this.entity();
    await this.serve(entity, scriptedActivities(script), options);
    await entity.changed();
    return entity;
  }

  /** The workers of the entity, with these activities: those of its task queue have the options. */
  async serve(
    { taskQueue }: Pick<Entity, 'taskQueue'>,
    activities: Activities,
    options: Partial<WorkerOptions> = {},
  ): Promise<void> {
    // A failed test may leave a step held.
    const shared = { connection: this.#native, activities, shutdownForceTime: '2s' } as const;
    // Otherwise most tasks would go to the worker that had the one before.
    const cached = this.#beside === undefined ? {} : { maxCachedWorkflows: 0 };
    await this.serveWorkflows({ taskQueue }, ENGINE_GENERATION, { ...cached, ...options });
    const steps = await Worker.create({ ...shared, taskQueue, ...options });
    const transfers = await Worker.create({ ...shared, taskQueue: transfersQueue(taskQueue) });
    const beside = this.#beside !== undefined && {
      workflowBundle: { code: this.#beside },
      identity: BESIDE,
      maxCachedWorkflows: 0,
      // The SDK takes two workers of one queue on one connection for a mistake.
      connection: await this.#connectBeside(),
    };
    const others = beside ? [await Worker.create({ ...shared, taskQueue, ...options, ...beside })] : [];
    for (const made of [steps, transfers, ...others]) this.#run(made);
  }

  /**
   * A worker of the workflows alone, of this checkout's but for the generation, in place of the one that the task queue has; activities
   * that are under way go on.
   */
  async serveWorkflows(
    { taskQueue }: Pick<Entity, 'taskQueue'>,
    generation: number,
    options: Partial<WorkerOptions> = {},
  ): Promise<void> {
    const former = this.#workflows.get(taskQueue);
    former?.worker.shutdown();
    await former?.running;
    const ownLine = `const ENGINE_GENERATION = ${ENGINE_GENERATION};`;
    if (!this.code.includes(ownLine)) throw new Error(`the bundle has no line "${ownLine}"`);
    const code = this.code.replace(ownLine, `const ENGINE_GENERATION = ${generation};`);
    const worker = await Worker.create({
      connection: this.#native,
      taskQueue,
      workflowBundle: { code },
      ...options,
    });
    this.#workflows.set(taskQueue, this.#run(worker));
  }

  #run(worker: Worker): RunningWorker {
    const run = { worker, running: worker.run().catch(() => undefined) };
    this.#workers.push(run);
    return run;
  }
}
