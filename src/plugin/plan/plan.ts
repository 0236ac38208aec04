/** Plans in plain text: what would be done, and what the plan could not see. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { effectiveCluster } from '../../api/derived/settings-in-force.ts';
import { validateCluster } from '../../api/validation/validate.ts';
import type { Decision } from '../../planner/model/decision.ts';
import type { Call } from '../commands/command.ts';
import { whatToDo } from '../../api/conditions/advice.ts';
import { ReadOnlyKube } from './looking-kube.ts';
import { recordedRequests } from './recorded-requests.ts';
import { type Planned, type Planning, plannedFor } from './planned.ts';
import type { Proposal } from './proposal.ts';
import { NOT_RECORDED } from './recorded-etcd.ts';
import { notSeenOfTls } from './recorded-tls.ts';

/** A plan, as --output prints it. */
export interface PlanShown {
  readonly source: string;
  /** `gone`: never, as the cluster exists or would. */
  readonly decision: Decision['kind'];
  readonly operation?: string;
  /** What the operation changes as a whole; the steps may lead only a part of the way. */
  readonly change?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly consent?: { readonly operation: string; readonly ids: readonly string[] };
  readonly steps: readonly string[];
  /** Fields that are set and do nothing, and what is wrong with the specification. */
  readonly remarks: readonly string[];
  readonly notSeen: readonly string[];
}

/** What a command plans with. Each is read from the API server once. */
export function planningOf({ session, io }: Call, { stored }: Proposal): Planning {
  return {
    kube: new ReadOnlyKube(session.kube),
    workflowState: stored === undefined ? {} : recordedRequests(stored as unknown as EtcdCluster),
    now: io.now(),
  };
}

/** The plan of what is proposed. */
export async function planOf(call: Call, proposal: Proposal): Promise<PlanShown> {
  const planning = planningOf(call, proposal);
  const planned = await plannedFor(proposal.proposed, planning);
  return {
    source: proposal.source,
    ...shown(planned),
    remarks: remarksOn(proposal),
    notSeen: [...proposal.notSeen, ...notSeen(proposal, planning)],
  };
}

function shown({ decision, change }: Planned): Pick<PlanShown, 'decision' | 'steps'> & Partial<PlanShown> {
  const { kind } = decision;
  const steps = 'plan' in decision ? decision.plan.map(({ summary }) => summary) : [];
  if (decision.kind === 'operate') return { decision: kind, operation: decision.operation, change, steps };
  if (decision.kind !== 'blocked') return { decision: kind, steps };
  const { reason, message, consent } = decision;
  return { decision: kind, reason, message, ...(consent && { consent }), steps };
}

/** What the plan was not made from, each as a sentence. */
export function notSeen({ stored }: Proposal, { kube }: Planning): readonly string[] {
  const cluster = stored as unknown as EtcdCluster | undefined;
  const { status, metadata } = cluster ?? {};
  if (cluster === undefined || status === undefined) return [...kube.hidden];
  const { observedGeneration = 0 } = status;
  const behind =
    observedGeneration < (metadata?.generation ?? 0)
      ? ['what the operator makes of the specification that is applied: it has not taken that up yet']
      : [];
  return [
    ...behind,
    'the members themselves: their list, health, roles and versions are those of the status, as of the last pass of the operator',
    NOT_RECORDED,
    'approvals that were given and requests that wait: the workflow knows them',
    ...notSeenOfTls(cluster),
    ...kube.hidden,
  ];
}

/** What the operator would say in the conditions of the resource. */
function remarksOn({ stored, proposed }: Proposal): readonly string[] {
  const { spec, metadata, status = {} } = effectiveCluster(proposed as unknown as EtcdCluster);
  const recorded = stored === undefined ? undefined : status.targetVersion || status.currentVersion;
  const { conditions } = validateCluster({ metadata, spec, status }, recorded);
  return conditions
    .filter(condition => whatToDo(condition) !== undefined)
    .map(({ type, reason, message }) => `${type}, ${reason}: ${message}`);
}
