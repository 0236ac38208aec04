/** The few things that the watcher asks of Temporal, each with a deadline. */
import { status } from '@grpc/grpc-js';
import {
  type Client,
  isGrpcServiceError,
  NamespaceNotFoundError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { type Kind, type ResourceRef, workflowId } from '../../api/names.ts';
import { ENGINE_GENERATION, GENERATION_ATTRIBUTE } from '../../api/values/engine-generation.ts';
import { priorityOf } from '../../api/values/priority.ts';
import { ATTENTION_FAILING, type Changed, changedSignal } from '../../workflows/messages/resource.ts';
import type { FailedProcessing } from '../queue/work-queue.ts';
import { callsOf } from './calls.ts';

/** A workflow that runs: of a resource, or of an operation. */
export interface RunningWorkflow {
  readonly workflowId: string;
  /** It stays at the task queue that it was started with. */
  readonly taskQueue: string;
  /** Whether it says that its passes fail. */
  readonly isFailing: boolean;
  /**
   * What the server says about one whose tasks keep failing, such as `category=WorkflowTaskFailed`,
   * `cause=WorkflowTaskFailedCauseNonDeterministicError`. Servers before 1.30 say nothing.
   */
  readonly problems: readonly string[];
}

/** A worker that polls the task queue, or did so in the last minutes. */
export interface Poller {
  readonly identity: string;
  /** When it began its last poll: milliseconds since the epoch, on the server's clock. */
  readonly polledAt: number;
}

/** Every call rejects when it takes longer than its deadline, or soon after `abort` is raised. */
export interface TemporalPort {
  /** Delivers `changed` to the resource's workflow, and starts that when it does not run. */
  signal(ref: ResourceRef, changed: Changed, abort: AbortSignal): Promise<void>;
  /** Delivers `changed` to the resource's workflow when it runs; does nothing when it does not. */
  signalIfRunning(ref: ResourceRef, abort: AbortSignal): Promise<void>;
  /** Every workflow that runs at the task queue of this operator, or at any other, as the list of workflows has it: that lags behind by about a second. */
  running(where: 'here' | 'elsewhere', abort: AbortSignal): Promise<readonly RunningWorkflow[]>;
  /** Who runs workflows of the task queue. */
  pollers(abort: AbortSignal): Promise<readonly Poller[]>;
}

export interface TemporalPortOptions {
  readonly taskQueue: string;
  /** Of one call, the library's own retries included, in milliseconds; 5 s when left out. */
  readonly deadlineMs?: number;
}

/** Which workflow type serves a kind. */
const WORKFLOW_TYPES: Readonly<Record<Kind, string>> = {
  EtcdCluster: 'etcdCluster',
  EtcdBackup: 'etcdBackup',
  EtcdRestore: 'etcdRestore',
};

/** Set by the server (1.30 and later) after five failed workflow tasks in a row, and cleared by one that succeeds. */
const REPORTED_PROBLEMS = 'TemporalReportedProblems';

/**
 * The port on a real client. Its connection must be lazy or connected; it is not closed here.
 * @param current asked anew for each call
 */
export function temporalPort(current: () => Client, options: TemporalPortOptions): TemporalPort {
  const { taskQueue } = options;
  const call = callsOf(current, options.deadlineMs ?? 5_000);
  return {
    async signal(ref, changed, abort) {
      await call(abort, client =>
        client.workflow.signalWithStart(WORKFLOW_TYPES[ref.kind], {
          ...startOptions(ref, taskQueue),
          signal: changedSignal,
          signalArgs: [changed],
        }),
      );
    },
    async signalIfRunning(ref, abort) {
      try {
        await call(abort, client => client.workflow.getHandle(workflowId(ref)).signal(changedSignal));
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
    running(where, abort) {
      const types = Object.values(WORKFLOW_TYPES).map(type => `'${type}'`);
      const there =
        where === 'here'
          ? `TaskQueue = '${taskQueue}'`
          : `TaskQueue != '${taskQueue}' AND WorkflowType IN (${types.join(', ')})`;
      return call(abort, client => listRunning(client, there));
    },
    pollers: abort => call(abort, client => listPollers(client, taskQueue)),
  };
}

/** TASK_QUEUE_TYPE_WORKFLOW (temporal.api.enums.v1). */
const WORKFLOW_TASKS = 1;

async function listPollers(client: Client, taskQueue: string): Promise<readonly Poller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOW_TASKS,
  });
  return (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    polledAt: Number(lastAccessTime?.seconds ?? 0) * 1_000,
  }));
}

/** The workflow's start argument names the resource and nothing else: everything else is read when it is needed. */
function startOptions(ref: ResourceRef, taskQueue: string) {
  const { kind, namespace, name, uid } = ref;
  return {
    workflowId: workflowId(ref),
    taskQueue,
    args: [{ namespace, name, uid }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    priority: priorityOf(kind, namespace),
    staticSummary: `${kind} ${namespace}/${name}`,
    typedSearchAttributes: [
      { key: { name: 'EtcdNamespace', type: 'KEYWORD' as const }, value: namespace },
      { key: { name: 'EtcdName', type: 'KEYWORD' as const }, value: name },
      { key: { name: GENERATION_ATTRIBUTE, type: 'INT' as const }, value: ENGINE_GENERATION },
    ],
  };
}

/** In one page of a list. */
const PAGE = 1_000;

async function listRunning(client: Client, where: string): Promise<readonly RunningWorkflow[]> {
  const query = `ExecutionStatus = 'Running' AND ${where}`;
  const found: RunningWorkflow[] = [];
  for await (const { workflowId: id, taskQueue, searchAttributes } of client.workflow.list({
    query,
    pageSize: PAGE,
  })) {
    const isFailing = (searchAttributes['EtcdAttention'] ?? []).map(String).includes(ATTENTION_FAILING);
    const problems = (searchAttributes[REPORTED_PROBLEMS] ?? []).map(String);
    found.push({ workflowId: id, taskQueue, isFailing, problems });
  }
  return found;
}

/** Codes that speak about the one call; with any other, every call may fare the same. */
const ABOUT_THE_CALL: readonly number[] = [
  status.INVALID_ARGUMENT,
  status.ALREADY_EXISTS,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
];

/**
 * What a failed call means for the queue. Only the code goes into the answer: the texts of gRPC errors carry
 * addresses, and with some proxies more than that.
 */
export function failedDelivery(error: unknown): FailedProcessing {
  if (isNamespaceNotFound(error)) return { outcome: 'unavailable', code: 'NAMESPACE_NOT_FOUND' };
  const code = grpcCode(error);
  if (code === undefined || status[code] === undefined)
    return { outcome: 'refused', code: error instanceof Error ? error.name : 'Error' };
  return { outcome: ABOUT_THE_CALL.includes(code) ? 'refused' : 'unavailable', code: status[code] };
}

/** The gRPC status of a failed call; the client wraps gRPC's errors in its own, sometimes more than once. */
export function grpcCode(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  return error instanceof Error && error.cause !== undefined ? grpcCode(error.cause) : undefined;
}

function isNamespaceNotFound(error: unknown): boolean {
  return (
    error instanceof NamespaceNotFoundError || (error instanceof Error && isNamespaceNotFound(error.cause))
  );
}
