/** The few things that the watcher asks of Temporal, each with a deadline. */
import {
  type Client,
  isGrpcServiceError,
  NamespaceNotFoundError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { type Kind, operationWorkflowId, type ResourceRef, workflowId } from '../../api/names.ts';
import { ENGINE_GENERATION, GENERATION_ATTRIBUTE } from '../../api/values/engine-generation.ts';
import { priorityOf } from '../../api/values/priority.ts';
import { ATTENTION_FAILING, type Changed, changedSignal } from '../../workflows/messages/resource.ts';
import type { FailedProcessing } from '../queue/work-queue.ts';
import { callsOf } from './calls.ts';

/** A running workflow whose tasks keep failing, and what the server says about it. */
export interface WorkflowProblem {
  readonly workflowId: string;
  /** Such as `category=WorkflowTaskFailed`, `cause=WorkflowTaskFailedCauseNonDeterministicError`. */
  readonly problems: readonly string[];
}

/** A workflow stays at the task queue that it was started with. */
export interface OtherQueue {
  readonly ofWorkflow: string;
  readonly ofOperator: string;
}

/** What a worker is awaited for: a task of the workflow, or the activity that makes a pass, of which no attempt has ended yet. */
export interface Awaited {
  /** Equal texts: it is still the same one that is awaited. */
  readonly id: string;
  /** Where it waits, and which other task queue this operator serves; absent: it is this operator that it waits for. */
  readonly queues?: OtherQueue;
}

/** What a workflow of a resource is at, as Temporal sees it. */
export interface WorkflowState {
  readonly awaited: Awaited | undefined;
}

/** A workflow that runs: of a resource, or of an operation. */
export interface RunningWorkflow {
  readonly workflowId: string;
  /** Whether it says that its passes fail. */
  readonly isFailing: boolean;
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
  /** What the workflow of a resource is at, or with `operation` what its operation is when one runs; undefined when none runs. */
  state(
    ref: ResourceRef,
    of: 'resource' | 'resourceAndOperation',
    abort: AbortSignal,
  ): Promise<WorkflowState | undefined>;
  /** Running workflows of the task queue that report problems; `unsupported` by servers that do not say. */
  problems(abort: AbortSignal): Promise<readonly WorkflowProblem[] | 'unsupported'>;
  /** Every workflow of the task queue that runs, as the list of workflows has it: that lags behind by about a second. */
  running(abort: AbortSignal): Promise<readonly RunningWorkflow[]>;
  /** Who runs workflows of the task queue. */
  pollers(abort: AbortSignal): Promise<readonly Poller[]>;
}

export interface TemporalPortOptions {
  readonly taskQueue: string;
  /** Of one call, the library's own retries included, in milliseconds. */
  readonly deadlineMs: number;
}

/** Which workflow type serves a kind. */
const WORKFLOW_TYPES: Readonly<Record<Kind, string>> = {
  EtcdCluster: 'etcdCluster',
  EtcdBackup: 'etcdBackup',
  EtcdRestore: 'etcdRestore',
};

/** The activities that make a pass. */
const PASSES: readonly string[] = ['assess', 'assessBackup', 'assessRestore'];
/** Set by the server (1.30 and later) after five failed workflow tasks in a row, and cleared by one that succeeds. */
const REPORTED_PROBLEMS = 'TemporalReportedProblems';
/** More than this many stuck workflows need no longer list to be noticed. */
const MOST_PROBLEMS = 1_000;

/**
 * The port on a real client. Its connection must be lazy or connected; it is not closed here.
 * @param current asked anew for each call
 */
export function temporalPort(current: () => Client, options: TemporalPortOptions): TemporalPort {
  const call = callsOf(current, options.deadlineMs);
  return {
    async signal(ref, changed, abort) {
      await call(abort, client =>
        client.workflow.signalWithStart(WORKFLOW_TYPES[ref.kind], {
          ...startOptions(ref, options.taskQueue),
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
    async state(ref, of, abort) {
      const { taskQueue } = options;
      const found = await call(abort, client => described(client, taskQueue, workflowId(ref)));
      if (of === 'resource' || found === undefined) return found?.state;
      if (found.state.awaited !== undefined || !found.isOperating) return found.state;
      const operation = await call(abort, client =>
        described(client, taskQueue, operationWorkflowId(workflowId(ref))),
      );
      return operation?.state ?? found.state;
    },
    async problems(abort) {
      try {
        return await call(abort, client => listProblems(client, options.taskQueue));
      } catch (error) {
        if (grpcCode(error) === INVALID_ARGUMENT) return 'unsupported';
        throw error;
      }
    },
    running: abort => call(abort, client => listRunning(client, options.taskQueue)),
    pollers: abort => call(abort, client => listPollers(client, options.taskQueue)),
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

/** What a running workflow is at, for an operator that serves `taskQueue`; undefined when none of this id runs. */
async function described(
  client: Client,
  taskQueue: string,
  id: string,
): Promise<{ readonly state: WorkflowState; readonly isOperating: boolean } | undefined> {
  try {
    const found = await client.workflow.getHandle(id).describe();
    if (found.status.name !== 'RUNNING') return undefined;
    const isOperating = (found.raw.pendingChildren ?? []).length > 0;
    const { awaited } = stateOf(found);
    if (awaited === undefined || found.taskQueue === taskQueue) return { state: { awaited }, isOperating };
    const queues = { ofWorkflow: found.taskQueue, ofOperator: taskQueue };
    return { state: { awaited: { ...awaited, queues } }, isOperating };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function stateOf({ runId, raw }: WorkflowExecutionDescription): WorkflowState {
  const { pendingWorkflowTask: task, pendingActivities } = raw;
  const pass = (pendingActivities ?? []).find(({ activityType }) =>
    PASSES.includes(activityType?.name ?? ''),
  );
  // One of which an attempt failed was taken: its workflow says what is wrong.
  if (pass !== undefined)
    return { awaited: pass.lastFailure ? undefined : { id: `${runId}/${pass.activityId}` } };
  if (task === undefined || task === null) return { awaited: undefined };
  return { awaited: { id: `${runId}/task/${String(task.originalScheduledTime?.seconds ?? '')}` } };
}

/** In one page of a list. */
const PAGE = 1_000;

async function listRunning(client: Client, taskQueue: string): Promise<readonly RunningWorkflow[]> {
  const query = `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`;
  const found: RunningWorkflow[] = [];
  for await (const { workflowId: id, searchAttributes } of client.workflow.list({ query, pageSize: PAGE })) {
    const isFailing = (searchAttributes['EtcdAttention'] ?? []).map(String).includes(ATTENTION_FAILING);
    found.push({ workflowId: id, isFailing });
  }
  return found;
}

async function listProblems(client: Client, taskQueue: string): Promise<readonly WorkflowProblem[]> {
  const query = `${REPORTED_PROBLEMS} IS NOT NULL AND ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`;
  const found: WorkflowProblem[] = [];
  for await (const execution of client.workflow.list({ query, pageSize: 200 })) {
    const problems = execution.searchAttributes[REPORTED_PROBLEMS] ?? [];
    found.push({ workflowId: execution.workflowId, problems: problems.map(String) });
    if (found.length >= MOST_PROBLEMS) break;
  }
  return found;
}

const INVALID_ARGUMENT = 3;

/** gRPC's status codes by number (grpc/doc/statuscodes.md). */
const CODE_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

/** Codes that speak about the one call; with any other, every call may fare the same. */
const ABOUT_THE_CALL = [
  'INVALID_ARGUMENT',
  'ALREADY_EXISTS',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
];

/**
 * What a failed call means for the queue. Only the code goes into the answer: the texts of gRPC errors carry
 * addresses, and with some proxies more than that.
 */
export function failedDelivery(error: unknown): FailedProcessing {
  if (isNamespaceNotFound(error)) return { outcome: 'unavailable', code: 'NAMESPACE_NOT_FOUND' };
  const code = grpcCode(error);
  const name = code === undefined ? undefined : CODE_NAMES[code];
  if (name === undefined) return { outcome: 'refused', code: error instanceof Error ? error.name : 'Error' };
  return { outcome: ABOUT_THE_CALL.includes(name) ? 'refused' : 'unavailable', code: name };
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
