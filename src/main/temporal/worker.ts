/** Temporal's workers: one runs the workflows with their passes and steps, and one the activities that move data. */
import type { PayloadCodec } from '@temporalio/common';
import {
  type NativeConnection,
  Worker,
  type WorkflowBundleOption,
  type WorkerOptions,
} from '@temporalio/worker';
import { createActivities, type Dependencies } from '../../activities/index.ts';
import { activityInterceptor } from '../../telemetry/activity-interceptor.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Scrub } from '../../telemetry/scrub.ts';
import { transfersQueue } from '../../workflows/messages/resource.ts';
import type { Config } from '../config/config.ts';
import { codecOptions } from './codec/codec.ts';
import { sealedFailures } from './codec/sealed-failures.ts';

export interface WorkerParts {
  readonly connection: NativeConnection;
  readonly workflowBundle: WorkflowBundleOption;
  /** How Temporal's UI names this replica. */
  readonly identity: string;
  readonly activities: Dependencies;
  readonly metrics: Metrics;
  readonly scrub: Scrub;
  /** For what workflows and activities carry; undefined: as it is. */
  readonly codec: PayloadCodec | undefined;
}

/** How much a worker does at once. Everything else is the SDK's default. */
export function workerLimits({
  maxCachedWorkflows,
  maxConcurrentActivities,
  maxConcurrentWorkflowTasks,
}: Config['worker']) {
  return {
    maxCachedWorkflows,
    maxConcurrentActivityTaskExecutions: maxConcurrentActivities,
    maxConcurrentWorkflowTaskExecutions: maxConcurrentWorkflowTasks,
    // What a killed replica costs each workflow that it had cached, before another replica gets the task. A replica that is
    // short of CPU and takes longer to fetch a task replays the workflow for nothing.
    stickyQueueScheduleToStartTimeout: '3s',
  } as const satisfies Partial<WorkerOptions>;
}

/** Workers that begin and end together. */
export interface Workers {
  /** Once. Resolves when all have ended; rejects when one of them failed, after the others have ended as well. */
  run(): Promise<void>;
  /** `RUNNING` while all do; otherwise the state of one that does not. */
  state(): string;
  /** Has them go on with another connection. Calls that are under way end on the former one, which is to be closed later. */
  reconnect(connection: NativeConnection): void;
  /** Has them end. Does nothing to those that do not run. */
  shutdown(): void;
}

/**
 * Makes the workers.
 * @throws when the namespace is not there, or the server went away again
 */
export async function createWorkers(config: Config, parts: WorkerParts): Promise<Workers> {
  const shared = {
    connection: parts.connection,
    namespace: config.temporal.namespace,
    identity: parts.identity,
    activities: createActivities(parts.activities),
    dataConverter: codecOptions(parts.codec),
    interceptors: {
      activity: [...(parts.codec === undefined ? [] : [sealedFailures]), activityInterceptor(parts)],
    },
    // By itself the SDK sends one in four fifths of the timeout: a busy machine does not get it there in the last fifth, and
    // the activity is begun again beside the one that continues.
    maxHeartbeatThrottleInterval: '1s',
    // Within the pod's terminationGracePeriodSeconds; see the Deployment.
    shutdownGraceTime: '10s',
    shutdownForceTime: '20s',
  } satisfies Partial<WorkerOptions>;
  return together([
    await Worker.create({
      ...shared,
      ...workerLimits(config.worker),
      taskQueue: config.taskQueue,
      workflowBundle: parts.workflowBundle,
    }),
    // However slow a store is, and however many back up to it: the repair of a cluster has a slot.
    await Worker.create({
      ...shared,
      taskQueue: transfersQueue(config.taskQueue),
      maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentTransfers,
    }),
  ]);
}

/** As much of a worker of the SDK as is needed to run it. */
export type RunnableWorker = Pick<Worker, 'run' | 'getState' | 'shutdown' | 'connection'>;

/** Has the workers begin and end together. */
export function together(workers: readonly RunnableWorker[], checkEveryMs = 1_000): Workers {
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    async run() {
      const ended = await Promise.allSettled(
        workers.map(worker => runOf(worker, checkEveryMs).finally(shutdown)),
      );
      for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
    },
    reconnect(connection) {
      for (const worker of workers) worker.connection = connection;
    },
    state: () => workers.map(worker => worker.getState()).find(state => state !== 'RUNNING') ?? 'RUNNING',
    shutdown,
  };
}

/**
 * Runs the worker. Its own promise stays open when a poll is refused for good, as after an outage of more than a minute by a
 * server without the namespace: it then waits for a shutdown that nobody began (worker.ts of the SDK, `finalizeShutdown`, seen
 * with 1.24). So its state is looked at as well.
 */
async function runOf(worker: RunnableWorker, checkEveryMs: number): Promise<void> {
  let looking: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    looking = setInterval(() => {
      if (worker.getState() === 'FAILED') reject(new Error('a Temporal worker failed, as it has logged'));
    }, checkEveryMs);
  });
  try {
    await Promise.race([worker.run(), failed]);
  } finally {
    clearInterval(looking);
  }
}
