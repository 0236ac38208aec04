/** What the workflow of a cluster remembers: what users asked for, the last pass, the operation under way. Pure: nothing here waits or acts. */
import type {
  WorkflowState,
  Assessment,
  OpenSignals,
  Operation,
  RecordedRequests,
} from '../../activities/index.ts';
import { OPERATION_OF } from '../../api/actions.ts';
import { doesNotRun, endsAtNextStep, NOTHING_TO_ABORT, revoked } from '../../api/values/request-answers.ts';
import { oldestFirst, type Request } from '../../api/values/requests.ts';
import { waitingOperation } from '../../api/values/waiting-operation.ts';
import type { Received } from '../messages/text.ts';
import type { ResourceState } from '../host.ts';
import type { Ended } from '../operation.ts';
import type { Repeats } from '../repeats.ts';
import type { PassState } from '../passes.ts';
import type { SlotState } from '../slot.ts';
import { type Approval, unexpired, withApproval } from './approvals.ts';
import { afterVerdicts, type UserRequest, type Verdict } from './requests.ts';

/** How an operation ended, of which run of its workflow, and what it saw. */
export interface Ending extends Ended {
  readonly operation: Operation;
  readonly runId?: string;
}

/** An operation under way, and what an abort of it holds for. */
export type Running = { readonly operation: Operation } & Pick<
  NonNullable<WorkflowState['aborted']>,
  'generation' | 'subject'
>;

/** What one run hands to the next. */
interface Remembered extends PassState {
  paused: Received | undefined;
  /** Asked for, and the operation under way has not ended yet. */
  abort: Request | undefined;
  aborted: WorkflowState['aborted'];
  failed: WorkflowState['failed'];
  /** The run of the operation that ended last. */
  ran: WorkflowState['ran'];
  /** Given and not used yet. */
  approvals: readonly Approval[];
  /** Asked for and not done yet. */
  requests: readonly UserRequest[];
  /** What passes said of requests lately. */
  judged: readonly Verdict[];
  /** Approvals and requests are numbered, over all runs. */
  nextId: number;
  /** The run began anew and no pass has succeeded yet: what it takes over of what the status mirrors. */
  takesOver: WorkflowState['takesOver'];
  /** What the status is known to mirror (`openSignals` and `spent`, as JSON). */
  recorded: string;
  /** Uids of EtcdRequests of which nothing holds any more: a message has ended it, or the approval was used. */
  spent: readonly string[];
  /** The last message that was refused, and why. */
  refused: string | undefined;
  running: Running | undefined;
  /** When EtcdRequests were judged last during the operation under way, or when that began: milliseconds since the epoch. */
  judgedAt: number | undefined;
  /** What was done again and again. */
  repeats: Repeats | undefined;
  /** Operations that failed in a row. */
  failures: number;
  /** The last pass. */
  assessment: Assessment | undefined;
  /** The search attributes as they were last written. */
  published: string;
}

export interface ClusterState extends Remembered, ResourceState, SlotState<Ending> {
  /** Passes of this run, those of operations that have ended among them. */
  passes: number;
}

export type Carried = Readonly<Partial<Remembered>>;

/** The state of a run that begins. */
export function newCluster(carried: Carried = {}): ClusterState {
  return {
    paused: undefined,
    abort: undefined,
    aborted: undefined,
    failed: undefined,
    ran: undefined,
    approvals: [],
    requests: [],
    judged: [],
    nextId: 1,
    takesOver: Object.keys(carried).length === 0 ? { pause: true, abort: true, requests: true } : undefined,
    recorded: '',
    spent: [],
    refused: undefined,
    running: undefined,
    judgedAt: undefined,
    repeats: undefined,
    failures: 0,
    assessment: undefined,
    published: '',
    passFailing: undefined,
    ...carried,
    changed: true,
    cancelled: false,
    gone: false,
    asks: [],
    reported: undefined,
    passes: 0,
  };
}

/** What a run hands to the next. One that has nothing under way begins with a pass. */
export function carriedOf(cluster: ClusterState): Carried {
  const { paused, abort, aborted, failed, ran, approvals, requests, judged, nextId, refused } = cluster;
  const { spent, takesOver, recorded, running, judgedAt, repeats, failures, published, passFailing } =
    cluster;
  const assessment = running && cluster.assessment;
  const asked = { paused, abort, aborted, failed, ran, approvals, requests, judged, nextId, refused };
  return {
    ...asked,
    spent,
    takesOver,
    recorded,
    running,
    judgedAt,
    repeats,
    failures,
    published,
    passFailing,
    assessment,
  };
}

/** What users asked for and what has ended, as the planner takes it. */
export function stateForPass(cluster: ClusterState): WorkflowState {
  const { paused, aborted, failed, approvals, requests, spent, ran, takesOver } = cluster;
  return {
    ...(paused && { paused }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(spent.length > 0 && { spent }),
    ...(ran && { ran }),
    ...(takesOver && { takesOver }),
  };
}

/** What users asked for by messages and is still open, as the status mirrors it. */
export function openSignals(cluster: ClusterState): OpenSignals {
  const { paused, abort: asked, running, approvals } = cluster;
  const carriedOut = requestCarriedOut(cluster);
  const ending = asked && running && !carriedOut ? { ...running, ...asked } : undefined;
  // An abort takes the request back that the operation carries out.
  const requests = cluster.requests.filter(({ id }) => asked === undefined || id !== carriedOut?.id);
  const aborted = ending ?? cluster.aborted;
  return {
    ...(paused && { paused }),
    ...(aborted && { aborted }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
  };
}

/** The first pass of a run that began anew: it keeps what users requested of the former run, unless a later message to this run has ended it. */
function takeOver(cluster: ClusterState, open: OpenSignals): void {
  const { paused, aborted, approvals = [], requests = [] } = open;
  const { takesOver } = cluster;
  if (takesOver === undefined) return;
  if (takesOver.pause === true && paused !== undefined) cluster.paused ??= paused as Received;
  if (takesOver.abort === true) cluster.aborted ??= aborted;
  cluster.approvals = [...approvals, ...cluster.approvals];
  if (takesOver.requests === true) cluster.requests = [...requests, ...cluster.requests];
  cluster.takesOver = undefined;
}

/** Forgets what no longer holds: a failure that may be tried again, approvals that have expired. */
export function forgetExpired(cluster: ClusterState, now: number): void {
  if (cluster.failed !== undefined && now >= cluster.failed.retryAt) cluster.failed = undefined;
  cluster.approvals = unexpired(cluster.approvals, now);
}

/** Takes in what a pass has seen, and said of requests. */
export function afterPass(cluster: ClusterState, assessment: Assessment): void {
  cluster.assessment = assessment;
  cluster.passes += 1;
  takeOver(cluster, assessment.takenOver ?? {});
  const { isNew, ...judged } = afterVerdicts(cluster, assessment.verdicts ?? []);
  Object.assign(cluster, judged);
  forgetRevoked(cluster, assessment.revoked ?? {});
  // The next pass goes on with what was accepted.
  if (isNew) cluster.changed = true;
}

/** Takes in what became of EtcdRequests during a step. */
export function afterRequests(
  cluster: ClusterState,
  { ends, holding, revoked = {}, verdicts = [] }: RecordedRequests,
): void {
  const { assessment } = cluster;
  if (assessment !== undefined) {
    const { pause: _, abort: __, ...others } = assessment.holding ?? {};
    cluster.assessment = { ...assessment, holding: { ...others, ...holding } };
  }
  const { isNew: ___, ...judged } = afterVerdicts(cluster, verdicts);
  Object.assign(cluster, judged);
  forgetRevoked(cluster, revoked);
  if (ends) cluster.asks.push({ kind: 'handOver' });
}

/** What an EtcdRequest has ended is forgotten, unless something newer is there. */
function forgetRevoked(cluster: ClusterState, revoked: NonNullable<Assessment['revoked']>): void {
  const { paused, aborted, failed } = revoked;
  const { operation, generation } = cluster.aborted ?? {};
  if (paused && paused.at === cluster.paused?.at) cluster.paused = undefined;
  if (aborted && aborted.operation === operation && aborted.generation === generation)
    cluster.aborted = undefined;
  if (failed && failed.retryAt === cluster.failed?.retryAt) cluster.failed = undefined;
}

/** As many uids are remembered: the next pass takes note of them. */
const MOST_SPENT = 32;

/** Nothing holds of these EtcdRequests any more. */
function spend(cluster: ClusterState, ids: readonly (number | string | undefined)[]): void {
  const uids = ids.filter(id => typeof id === 'string' && !cluster.spent.includes(id)) as string[];
  cluster.spent = [...cluster.spent, ...uids].slice(-MOST_SPENT);
}

/** What users asked for and is not done, by messages and by EtcdRequests, in the order in which it is carried out. */
export function waitingRequests({ requests, assessment }: Pick<ClusterState, 'requests' | 'assessment'>) {
  return oldestFirst([...requests, ...(assessment?.holding?.requests ?? [])]);
}

/** What the operation under way carries out; undefined: nobody asked for it. */
function requestCarriedOut(cluster: ClusterState) {
  return waitingRequests(cluster).find(({ kind }) => OPERATION_OF[kind] === cluster.running?.operation);
}

/** Takes in how an operation ended. @param retryAt when it is tried again, had it failed */
export function afterOperation(
  cluster: ClusterState,
  { operation, runId, outcome, message, step, by = cluster.abort, used = [] }: Ending,
  retryAt: number,
): void {
  const { running, abort } = cluster;
  cluster.running = undefined;
  cluster.abort = undefined;
  cluster.ran = runId === undefined ? undefined : { operation, runId };
  cluster.approvals = cluster.approvals.filter(({ id }) => !used.includes(id));
  spend(cluster, used);
  if (outcome === 'failed') {
    const why = message ?? 'no reason was given';
    cluster.failed = { operation, ...(step !== undefined && { step }), message: why, retryAt };
  }
  // An abort that came when it was handing over, or whose step failed, is kept.
  const isAborted = outcome === 'aborted' || (outcome !== 'ended' && abort !== undefined);
  if (!isAborted || running === undefined) return;
  // What somebody asked for is taken back; what the specification asks for is kept from being done again.
  const request = waitingRequests(cluster).find(({ kind }) => OPERATION_OF[kind] === operation);
  if (request === undefined) cluster.aborted = { ...running, ...by };
  else {
    cluster.requests = cluster.requests.filter(({ id }) => id !== request.id);
    spend(cluster, [request.id]);
  }
}

/** Somebody asked for something that the next step must not come before: it is for the next pass to plan with. */
function handOver(cluster: ClusterState): void {
  cluster.changed = true;
  cluster.asks.push({ kind: 'handOver' });
}

export function pause(cluster: ClusterState, request: Received): void {
  cluster.paused = request;
  handOver(cluster);
}

export function resume(cluster: ClusterState): void {
  cluster.paused = undefined;
  if (cluster.takesOver !== undefined) cluster.takesOver = { ...cluster.takesOver, pause: false };
  spend(cluster, [cluster.assessment?.holding?.pause]);
  cluster.changed = true;
}

/** Also revokes an abort, and retries at once what failed. */
export function resync(cluster: ClusterState): void {
  Object.assign(cluster, { aborted: undefined, failed: undefined, failures: 0, repeats: undefined });
  if (cluster.takesOver !== undefined) cluster.takesOver = { ...cluster.takesOver, abort: false };
  spend(cluster, [cluster.assessment?.holding?.abort]);
  cluster.changed = true;
}

export function abort(cluster: ClusterState, request: Request): void {
  if (cluster.running === undefined) {
    revokeWaiting(cluster, request);
    handOver(cluster);
  } else {
    cluster.abort = request;
    // It is recorded as aborted at once, and so is not taken up by a run that begins anew.
    spend(cluster, [requestCarriedOut(cluster)?.id]);
    cluster.changed = true;
    cluster.asks.push({ kind: 'abort', request });
  }
}

export function approve(cluster: ClusterState, approval: Approval, now: number): void {
  cluster.nextId += 1;
  cluster.approvals = withApproval(cluster.approvals, approval, now);
  cluster.changed = true;
}

export function ask(cluster: ClusterState, request: UserRequest): void {
  cluster.nextId += 1;
  cluster.requests = [...cluster.requests, request];
  handOver(cluster);
}

/** With no operation under way: takes back what was asked for, or keeps the operation that waits from being done. */
function revokeWaiting(cluster: ClusterState, by: Request): void {
  if (cluster.takesOver !== undefined) cluster.takesOver = { ...cluster.takesOver, requests: false };
  const waiting = cluster.assessment && waitingOperation(cluster.assessment.decision);
  if (waitingRequests(cluster).length > 0) {
    cluster.requests = [];
    spend(
      cluster,
      (cluster.assessment?.holding?.requests ?? []).map(({ id }) => id),
    );
  } else if (waiting !== undefined)
    cluster.aborted = { ...waiting, generation: cluster.assessment?.generation ?? 0, ...by };
}

/** What an abort comes to, as it is answered. */
export function answerToAbort(cluster: ClusterState): string {
  const { running, assessment } = cluster;
  if (running !== undefined) return endsAtNextStep(running.operation);
  const taken = waitingRequests(cluster);
  if (taken.length > 0) return revoked(taken);
  const waiting = assessment && waitingOperation(assessment.decision);
  return waiting === undefined ? NOTHING_TO_ABORT : doesNotRun(waiting.operation);
}
