/** One pass: observe → plan → report. Returns the decision, which the workflow's history records. */
import { Context } from '@temporalio/activity';
import type { EtcdCluster, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { blocked, type Decision } from '../../planner/model/decision.ts';
import type { Observation } from '../../planner/model/observation.ts';
import type { WorkflowState, UserRequest } from '../../planner/model/workflow-state.ts';
import type { Situation } from '../../planner/model/situation.ts';
import { type RepairInPass, repairInPass } from '../../planner/operations/repair/in-pass.ts';
import { decide } from '../../planner/plan.ts';
import { situationOf } from '../../planner/situation.ts';
import type { Verdict } from '../../planner/requests/judge.ts';
import { type Settled, settleRequests } from '../../planner/requests/cluster.ts';
import { takenOver } from '../../planner/requests/signals.ts';
import { transitions } from '../../planner/report/events.ts';
import { observedMembers } from '../../planner/report/members.ts';
import { statusOf } from '../../planner/report/status.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { clusterFacts, observe } from '../observe/observe.ts';
import { endedOperation, upgradedMembers } from '../runtime/pass-report.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { withTimeLimit } from '../../kube/time-limit.ts';
import { reportStatus, retryOnConflict } from '../resource/custom-resource.ts';
import { recordAccepted, recordOrphans, recordOutcomes } from '../resource/etcd-requests.ts';
import { readCluster } from '../resource/read-cluster.ts';
import { runOfPass } from '../runtime/run-of-pass.ts';
import { applySharedObjects } from '../steps/apply-objects.ts';
import { createMissing } from '../steps/ensure-objects.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';

/** What a workflow needs to know of a pass: what to do, and what to show users. */
export interface Assessment {
  readonly decision: Decision;
  readonly generation: number;
  readonly summary: ClusterSummary | undefined;
  /** What became of each request that the workflow holds. */
  readonly verdicts?: readonly Verdict[];
  /** By EtcdRequest, its uid: what holds, and a message to the workflow can end. */
  readonly holding?: Holding;
  /** What the workflow holds and an EtcdRequest has ended: it forgets it, unless it holds something newer. */
  readonly revoked?: Settled['revoked'];
  /** What a run that begins anew takes over from the status. */
  readonly takenOver?: Settled['takenOver'];
  /** What the pass repaired by itself before it looked once more. */
  readonly repaired?: RepairInPass;
}

/** Uids of EtcdRequests, and what is not done of them. */
interface Holding {
  readonly pause?: string;
  readonly abort?: string;
  readonly requests?: readonly (Pick<UserRequest, 'kind' | 'target' | 'by' | 'at'> & {
    readonly id: string;
  })[];
}

/** For queries, search attributes and the details in the Temporal UI. */
export interface ClusterSummary {
  readonly phase: string;
  readonly version: string;
  readonly size: number;
  readonly membersReady: number;
  readonly healthy: boolean;
  readonly paused: boolean;
  /** What somebody should see to, in one word. */
  readonly attention?: string;
  readonly members: readonly {
    readonly name: string;
    readonly id: string;
    readonly role: string;
    readonly health: string;
    readonly version: string;
    readonly node: string;
  }[];
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

interface PassContext {
  readonly workflowState: WorkflowState;
  readonly workflowId: string;
}

/** How soon a resource is looked at again that others changed all the time. */
const CHANGING_MS = 1_000;

/**
 * A pass repairs only upon what it began to look at so recently, and makes no call for it later than that: less than it takes until
 * another worker repeats the pass of one that does not answer (HEARTBEAT_SECONDS), so that no operation has begun meanwhile.
 */
const RECENT_MS = 3_000;
const REPAIR_MS = 6_000;

/**
 * Looks, repairs shared objects (docs/decisions/0121-a-pass-repairs-shared-objects.md) and looks again, decides, and writes the status
 * when it changed. Can run twice. Nothing is done for a resource whose status could not be written, because others
 * changed it faster: it is looked at again soon.
 */
export async function assess(deps: Dependencies, ref: ClusterRef, context: PassContext): Promise<Assessment> {
  const repaired: RepairInPass[] = [];
  const answer = await retryOnConflict(
    () => pass(deps, ref, { ...context, repaired }),
    async () => {
      const cluster = await readCluster(deps.kube, ref);
      return cluster === undefined ? gone(deps, ref) : changing(deps, cluster, context.workflowState);
    },
  );
  const [step] = repaired;
  return step === undefined ? answer : { ...answer, repaired: step };
}

async function gone(deps: Dependencies, ref: ClusterRef): Promise<Assessment> {
  await recordOrphans(deps, { kind: 'EtcdCluster', ...ref });
  deps.onPass({ decision: 'gone', ended: undefined });
  return { decision: { kind: 'gone' }, generation: 0, summary: undefined };
}

/** What is shown of it is what its status said before, and what a run that begins anew takes over is what stands there. */
function changing(deps: Dependencies, cluster: EtcdCluster, { takesOver }: WorkflowState): Assessment {
  const { namespace, name } = cluster.metadata;
  const message = `EtcdCluster ${namespace}/${name} was changed by others each time its status was written; it is looked at again in a second`;
  const decision = blocked({ reason: 'ChangedConcurrently', message, waitMs: CHANGING_MS });
  deps.logger.warn('the status could not be written', { namespace, name, reason: 'ChangedConcurrently' });
  deps.onPass({ decision: decision.kind, ended: undefined });
  const facts = clusterFacts(cluster);
  const resource = { uid: facts.uid, generation: facts.generation, now: deps.now() };
  const taken = takenOver(cluster.status?.signals, takesOver, resource);
  return {
    decision,
    generation: facts.generation,
    summary: summaryOf({ cluster: facts }, cluster.status ?? {}),
    ...(Object.keys(taken).length > 0 && { takenOver: taken }),
  };
}

/** What a pass has fixed, no run of an operation has. */
function withoutRun({ situation, settled }: Look): Situation {
  const { ran: _, ...workflowState } = settled.workflowState;
  return { ...situation, workflowState };
}

/** @param context `repaired`: what an earlier attempt has repaired; what this one repairs is added */
async function pass(
  deps: Dependencies,
  ref: ClusterRef,
  context: PassContext & { readonly repaired: RepairInPass[] },
): Promise<Assessment> {
  const begun = deps.time.now();
  const first = await look(deps, ref, context);
  if (first === undefined) return gone(deps, ref);
  const isRecent = deps.time.now() - begun < RECENT_MS;
  // What users asked for since the pass was asked for is not known to another attempt of it.
  const isFirst = context.repaired.length === 0 && Context.current().info.attempt === 1;
  const step = isRecent && isFirst ? repairInPass(first.situation, first.decision) : undefined;
  if (step !== undefined) {
    const hasTime = { ...deps, kube: withTimeLimit(deps.kube, () => begun + REPAIR_MS - deps.time.now()) };
    if (await repair(hasTime, first.cluster, step)) context.repaired.push(step);
  }
  const seen = step === undefined ? first : await look(deps, ref, context);
  if (seen === undefined) return gone(deps, ref);
  const { cluster, decision, settled } = seen;
  const { holds, signals } = settled;
  const judge = {
    workflowId: context.workflowId,
    runId: runOfPass(context.workflowId),
    now: seen.situation.now,
  };
  const changes = await recordAccepted(deps, settled.changes, judge);
  const now = timestamp(deps.now());
  const situation = context.repaired.length === 0 ? seen.situation : withoutRun(seen);
  const findings = { situation, decision, holds, signals, members: observedMembers(situation) };
  const status = statusOf(findings, { workflowId: context.workflowId, now });
  await reportStatus(deps, cluster, {
    status,
    events: ({ before, after }) => transitions(before, after),
  });
  await recordOutcomes(deps, { changes, requests: situation.requests ?? [] }, judge);
  logStep(deps, cluster, status);
  deps.onPass({
    decision: decision.kind,
    ended: endedOperation(cluster.status ?? {}, status),
    upgraded: upgradedMembers(situation, status),
    repaired: context.repaired[0]?.kind,
  });
  return {
    decision,
    generation: situation.cluster.generation,
    summary: summaryOf(situation, status),
    ...forWorkflow(settled),
  };
}

/** What the workflow is to remember, or to forget, of what users want. */
export function forWorkflow(
  settled: Pick<Settled, 'verdicts' | 'revoked' | 'takenOver' | 'holds' | 'workflowState'>,
): Pick<Assessment, 'verdicts' | 'holding' | 'revoked' | 'takenOver'> {
  const { verdicts, revoked, takenOver } = settled;
  return {
    ...(verdicts.length > 0 && { verdicts }),
    ...holdingOf(settled),
    ...(Object.keys(revoked).length > 0 && { revoked }),
    ...(Object.keys(takenOver).length > 0 && { takenOver }),
  };
}

/** What holds by EtcdRequests. */
function holdingOf({
  holds,
  workflowState,
}: Pick<Settled, 'holds' | 'workflowState'>): Pick<Assessment, 'holding'> {
  const requests = (workflowState.requests ?? []).flatMap(({ id, kind, target, by, at }) =>
    typeof id === 'string' ? [{ id, kind, target, by, ...(at !== undefined && { at }) }] : [],
  );
  const holding = withoutUndefined<Holding>({
    pause: holds?.pause?.request,
    abort: holds?.abort?.request,
    requests: requests.length > 0 ? requests : undefined,
  });
  return Object.keys(holding).length > 0 ? { holding } : {};
}

interface Look {
  readonly cluster: EtcdCluster;
  readonly situation: Situation;
  readonly decision: Decision;
  readonly settled: Settled;
}

/** What is there, and what is to be done about it; undefined when the resource is gone. */
async function look(deps: Dependencies, ref: ClusterRef, context: PassContext): Promise<Look | undefined> {
  const seen = await observe(deps, ref);
  if (seen === undefined) return undefined;
  const before = situationOf(seen.observation, context.workflowState);
  const { cluster } = seen;
  const createdAt = parseTimestamp(cluster.metadata.creationTimestamp ?? undefined) ?? 0;
  const target = { kind: 'EtcdCluster', ...ref, workflowId: context.workflowId, createdAt } as const;
  const settled = settleRequests(before, target);
  const situation = { ...before, workflowState: settled.workflowState };
  return { cluster, situation, decision: decide(situation), settled };
}

/** Whether the step was performed. What is refused is left to an operation, which tries again and says what is wrong. */
async function repair(deps: Dependencies, cluster: EtcdCluster, step: RepairInPass): Promise<boolean> {
  const { namespace, name } = cluster.metadata;
  const about = { namespace, name, step: step.kind };
  try {
    if (step.kind === 'ensureObjects') await createMissing(deps, cluster, step);
    else await applySharedObjects(deps, cluster, step);
    deps.logger.info('repaired by a pass', about);
    return true;
  } catch (error) {
    deps.logger.warn('a pass could not repair by itself', { ...about, error: messageOf(error) });
    return false;
  }
}

/** One line for each step that is decided on; a step that goes on is decided once. */
function logStep(deps: Dependencies, cluster: EtcdCluster, { operation }: EtcdClusterStatus): void {
  if (operation === undefined || operation.step === cluster.status?.operation?.step) return;
  const { namespace, name } = cluster.metadata;
  const { type, step, remaining } = operation;
  deps.logger.info('step decided', { namespace, name, operation: type, step, left: remaining?.length ?? 0 });
}

function summaryOf({ cluster }: Pick<Observation, 'cluster'>, status: EtcdClusterStatus): ClusterSummary {
  const details = status.members?.details ?? [];
  return {
    phase: status.phase ?? '',
    version: status.currentVersion ?? cluster.config.version,
    size: cluster.config.size,
    membersReady: status.members?.ready?.length ?? 0,
    healthy: status.conditions?.some(({ type, status: is }) => type === 'Healthy' && is === 'True') ?? false,
    paused: status.controlPaused ?? false,
    ...(status.attention !== undefined && { attention: status.attention }),
    members: details.map(({ name, id = '', role = '', health, version = '', node = '' }) => ({
      name,
      id,
      role,
      health,
      version,
      node,
    })),
    conditions: (status.conditions ?? []).map(({ type, status: is, reason, message }) => ({
      type,
      status: is,
      reason,
      message,
    })),
  };
}
