/** One pass: observe → plan → report. Returns the decision, which the workflow's history records. */
import type { EtcdCluster, EtcdClusterStatus } from '../../api/schemas/types.ts';
import type { Decision } from '../../planner/model/decision.ts';
import type { Observation } from '../../planner/model/observation.ts';
import type { Actor } from '../../planner/model/actor.ts';
import { decide } from '../../planner/plan.ts';
import { situationOf } from '../../planner/situation.ts';
import { judge, type Verdict } from '../../planner/checks/human-requests.ts';
import { transitions } from '../../planner/report/events.ts';
import { observedMembers } from '../../planner/report/members.ts';
import { statusOf } from '../../planner/report/status.ts';

import type { Dependencies } from '../runtime/dependencies.ts';
import { observe } from '../observe/observe.ts';
import { endedOperation, figuresOf, upgradedMembers } from '../runtime/pass-report.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { reportStatus, retryOnConflict } from '../resource/custom-resource.ts';
import { timestamp } from '../../api/values/time.ts';

/** What a workflow needs to know of a pass: what to do, and what to show people. */
export interface Assessment {
  readonly decision: Decision;
  readonly generation: number;
  readonly summary: ClusterSummary | undefined;
  /** What became of each request. */
  readonly verdicts?: readonly Verdict[];
}

/** For queries, search attributes and the details in the Temporal UI. */
export interface ClusterSummary {
  readonly phase: string;
  readonly version: string;
  readonly size: number;
  readonly membersReady: number;
  readonly healthy: boolean;
  readonly paused: boolean;
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

/** Looks, decides, and writes the status when it changed. Can run twice: it changes nothing but the status. */
export async function assess(
  deps: Dependencies,
  ref: ClusterRef,
  context: { readonly actor: Actor; readonly workflowId: string },
): Promise<Assessment> {
  return retryOnConflict(async () => {
    const seen = await observe(deps, ref);
    if (seen === undefined) {
      deps.onPass({ cluster: ref, decision: 'gone', figures: undefined, ended: undefined });
      return { decision: { kind: 'gone' }, generation: 0, summary: undefined };
    }
    const { cluster } = seen;
    const observation = situationOf(seen.observation);
    const decision = decide(observation, context.actor);
    const now = timestamp(deps.now());
    const findings = { observation, decision, actor: context.actor, members: observedMembers(observation) };
    const status = statusOf(findings, { workflowId: context.workflowId, now });
    await reportStatus(deps, cluster, {
      status,
      events: ({ before, after }) => transitions(before, after),
    });
    logStep(deps, cluster, status);
    deps.onPass({
      cluster: ref,
      decision: decision.kind,
      figures: figuresOf(observation, status),
      ended: endedOperation(cluster.status ?? {}, status),
      upgraded: upgradedMembers(observation, status),
    });
    const verdicts = judge(observation, context.actor.requests);
    return {
      decision,
      generation: observation.cluster.generation,
      summary: summaryOf(observation, status),
      ...(verdicts.length > 0 && { verdicts }),
    };
  });
}

/** One line for each step that is decided on; a step that goes on is decided once. */
function logStep(deps: Dependencies, cluster: EtcdCluster, { operation }: EtcdClusterStatus): void {
  if (operation === undefined || operation.step === cluster.status?.operation?.step) return;
  const { namespace, name } = cluster.metadata;
  const { type, step, remaining } = operation;
  deps.logger.info('step decided', { namespace, name, operation: type, step, left: remaining?.length ?? 0 });
}

function summaryOf({ cluster }: Observation, status: EtcdClusterStatus): ClusterSummary {
  const details = status.members?.details ?? [];
  return {
    phase: status.phase ?? '',
    version: status.currentVersion ?? cluster.config.version,
    size: cluster.config.size,
    membersReady: status.members?.ready?.length ?? 0,
    healthy: status.conditions?.some(({ type, status: is }) => type === 'Healthy' && is === 'True') ?? false,
    paused: status.controlPaused ?? false,
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
