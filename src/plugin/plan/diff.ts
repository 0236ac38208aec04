/** What each change of a specification means: the plan of the applied specification with this change alone. */
import type { EtcdCluster, EtcdClusterSpec } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { Decision, PlannedStep, StepKind } from '../../planner/model/decision.ts';
import { traitsOf } from '../../planner/model/step-catalogue.ts';
import type { Call } from '../commands/command.ts';
import { failure } from '../failure.ts';
import { type Difference, differencesOf, pathOf, withDifference } from './applied.ts';
import { notSeen, planningOf } from './plan.ts';
import { type Planned, type Planning, plannedFor } from './planned.ts';
import type { Proposal } from './proposal.ts';

/** One changed field. */
export interface ChangeShown {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
  /** The operation that the change begins. */
  readonly operation?: string;
  /** Why it is not carried out, or not without a person. */
  readonly reason?: string;
  readonly meaning: string;
  readonly needsApproval: boolean;
  /** As far as the plan says. */
  readonly membersRestarted: number;
}

export interface DiffShown {
  readonly source: string;
  readonly changes: readonly ChangeShown[];
  readonly notSeen: readonly string[];
}

/** What differs between the cluster and the proposal. @throws Failure when there is no cluster to compare with */
export async function diffOf(call: Call, proposal: Proposal): Promise<DiffShown> {
  const { stored, proposed, source } = proposal;
  if (stored === undefined)
    throw failure(
      `there is no EtcdCluster ${proposed.metadata.name} in namespace ${proposed.metadata.namespace ?? ''} to compare with`,
      'See how it would be created with: kubectl etcd plan NAME -f FILE',
    );
  // A paused cluster is asked what it would do if it were resumed: that it is paused says nothing of a field.
  const planning: Planning = { ...planningOf(call, proposal), workflowState: {} };
  const before = await plannedFor(resumed(stored), planning);
  const changes: ChangeShown[] = [];
  for (const difference of differencesOf(stored['spec'], proposed['spec'])) {
    const { generation = 1 } = stored.metadata;
    const spec = withDifference(stored['spec'], difference);
    const metadata = { ...stored.metadata, generation: generation + 1 };
    const isPause = difference.keys.join() === 'paused';
    const changed = { ...stored, metadata, spec };
    changes.push(
      changeShown(difference, {
        before,
        after: await plannedFor(isPause ? changed : resumed(changed), planning),
      }),
    );
  }
  return { source, changes, notSeen: [...proposal.notSeen, ...notSeen(proposal, planning)] };
}

function resumed(cluster: KubeObject): KubeObject {
  const { spec } = cluster as unknown as EtcdCluster;
  return { ...cluster, spec: { ...spec, paused: false } satisfies EtcdClusterSpec };
}

interface Plans {
  readonly before: Planned;
  readonly after: Planned;
}

function changeShown(difference: Difference, plans: Plans): ChangeShown {
  const { from, to } = difference;
  const before = plans.before.decision;
  const after = plans.after.decision;
  const isOther = summary(before) !== summary(after);
  return {
    field: pathOf(difference),
    from,
    to,
    ...(isOther && after.kind === 'operate' && { operation: after.operation }),
    ...(isOther && after.kind === 'blocked' && { reason: after.reason }),
    meaning: isOther ? meaningOf(plans.after) : unchanged(before),
    needsApproval: isOther && after.kind === 'blocked' && after.consent !== undefined,
    membersRestarted: isOther ? restarts(stepsOf(after)) : 0,
  };
}

function unchanged(before: Decision): string {
  return before.kind === 'idle'
    ? 'no step: no member is touched'
    : 'not known while the cluster has other work: what it does next stays the same';
}

const stepsOf = (decision: Decision): readonly PlannedStep[] => ('plan' in decision ? decision.plan : []);

/** Each of these steps ends the process of a member which comes back. */
const restarts = (steps: readonly PlannedStep[]): number =>
  steps.filter(({ kind }) => traitsOf(kind)?.stopsMember === true).length;

/** What distinguishes two plans: not how often the operator looks. */
function summary(decision: Decision): string {
  const { kind } = decision;
  const reason = decision.kind === 'blocked' ? `${decision.reason} ${decision.message}` : '';
  return JSON.stringify([kind, reason, stepsOf(decision)]);
}

function meaningOf({ decision, change }: Planned): string {
  if (decision.kind === 'blocked') {
    const what = decision.consent === undefined ? 'is not carried out now' : 'waits for an approval';
    const steps = decision.plan.length === 0 ? '' : `; then: ${effectOf(decision.plan)}`;
    return `${what}: ${decision.message}${steps}`;
  }
  if (decision.kind !== 'operate') return 'nothing is left to do';
  return `${decision.operation}${change}: ${effectOf(decision.plan)}`;
}

/** Members are added and removed one at a time, each by a plan of its own: how many is not in the steps. */
function effectOf(plan: readonly PlannedStep[]): string {
  const count = (kind: StepKind): number => plan.filter(step => step.kind === kind).length;
  const [restarted, expanded] = [restarts(plan), count('expandClaim')];
  const effects = [
    ...(restarted === 1 ? ['restarts one member'] : []),
    ...(restarted > 1 ? [`restarts ${restarted} members, one at a time`] : []),
    ...(count('addLearner') > 0 ? ['adds members, one at a time'] : []),
    ...(count('removeMember') > 0 ? ['removes members, one at a time'] : []),
    ...(expanded > 0 ? [`expands ${expanded} of the volumes`] : []),
    ...(count('deletePods') > 0 ? ['stops all members'] : []),
  ];
  return effects.length > 0
    ? effects.join(', ')
    : `no member is restarted (${plan[0]?.summary ?? 'no step'})`;
}
