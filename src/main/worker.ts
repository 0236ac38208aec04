/** Temporal's worker: runs the workflows and their activities. */
import { type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { createActivities, type Dependencies } from '../activities/index.ts';
import { activityInterceptor } from '../telemetry/activity-interceptor.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Scrub } from '../telemetry/scrub.ts';
import type { Config } from './config.ts';

export interface WorkerParts {
  readonly connection: NativeConnection;
  readonly workflowBundle: WorkflowBundleOption;
  readonly activities: Dependencies;
  readonly metrics: Metrics;
  readonly scrub: Scrub;
}

/**
 * Makes the worker; `run()` starts it, once.
 * @throws when the namespace is not there, or the server went away again
 */
export function createWorker(config: Config, parts: WorkerParts): Promise<Worker> {
  return Worker.create({
    connection: parts.connection,
    namespace: config.temporal.namespace,
    taskQueue: config.taskQueue,
    identity: config.pod.name,
    workflowBundle: parts.workflowBundle,
    activities: createActivities(parts.activities),
    interceptors: { activity: [activityInterceptor(parts)] },
    // The cache lives in the workflow thread's heap and is bounded by count alone: about 150 kB an entity.
    maxCachedWorkflows: config.worker.maxCachedWorkflows,
    maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentActivities,
    maxConcurrentWorkflowTaskExecutions: config.worker.maxConcurrentWorkflowTasks,
    // What a killed replica costs each workflow that it had cached, before another replica gets the task.
    stickyQueueScheduleToStartTimeout: '1s',
    // Within the pod's terminationGracePeriodSeconds; see the Deployment.
    shutdownGraceTime: '10s',
    shutdownForceTime: '20s',
  });
}
