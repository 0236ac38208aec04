/**
 * Membership of a living cluster. Nothing is changed unless a quorum lists the members; the order is: remove members
 * that are proved dead, finish the one learner there is, clear away what removals left, and only then grow or shrink. Claims
 * that a removal left are cleared away after those that follow it: nobody waits for them.
 */
import type { OperationStatus } from '../../../api/schemas/types.ts';
import type { OperationRow, RequestedRow } from '../../model/operation.ts';
import { finding } from '../../../api/conditions/catalogue.ts';
import { aboutVoter, askedIds, done } from '../../checks/user-requests.ts';
import { verdictOf } from '../../checks/corruption.ts';
import { lossOf } from '../../checks/evidence.ts';
import { membersOnLeavingNodes, membersToReplace } from '../../checks/leaving-members.ts';
import { volumesAskedFor, volumesRecorded } from '../../checks/outdated-volumes.ts';
import { firstObstacle, membersAreOurs, peerServiceNameIsFree } from '../../checks/obstacles.ts';
import type { Decision } from '../../model/decision.ts';
import { abortOf } from '../../checks/aborted.ts';
import { hasFailed, isSkipped } from '../../checks/failed-steps.ts';
import type { Situation } from '../../model/situation.ts';
import { replacementsAfter } from '../../model/replacements.ts';
import { planLearner } from './learner.ts';
import { learnerSeen } from './learner-progress.ts';
import { planRemovedMembers } from './removed-members.ts';
import { planReplacement } from './replace.ts';
import { planScale } from './scale.ts';
import { isStaying, type MemberView } from '../../model/member-view.ts';

/** Of `from` in the schema of status. */
const LONGEST_NAME = 64;

/** What the membership needs next; undefined when it is as asked for, or not known. */
export function planMembership(situation: Situation): Decision | undefined {
  const { members: views } = situation;
  if (views.length === 0 || situation.cluster.status.clusterID === undefined) return undefined;
  let passedOver: Decision | undefined;
  for (const planner of [planReplacement, planLearner, planNextRemoval, planRemovedMembers, planScale]) {
    const decision = planner(situation, views);
    if (decision === undefined) continue;
    if (decision.kind !== 'operate' || !isSkipped(situation.workflowState, decision)) return decision;
    passedOver ??= decision;
  }
  return passedOver;
}

/** The removal after one that left nothing but claims, when it can be done at once. */
function planNextRemoval(situation: Situation, views: readonly MemberView[]): Decision | undefined {
  const left = planRemovedMembers(situation, views);
  if (left?.kind !== 'operate' || left.step.kind !== 'retireMember' || left.step.pods.length > 0)
    return undefined;
  const next = planScale(situation, views);
  if (next?.kind !== 'operate' || next.step.kind === 'addLearner') return undefined;
  return isStopped(situation, next) ? undefined : next;
}

/**
 * Removes a voter that was stopped for it (stop-first.ts); undefined when there is none. Before repair, which would start it again
 * only for it to be stopped once more. When the removal is not wanted any more, is in the way of something, was aborted or
 * failed, repair does just that.
 */
export function continueRemoval(situation: Situation): Decision | undefined {
  if (firstObstacle(situation, [peerServiceNameIsFree, membersAreOurs]) !== undefined) return undefined;
  const decision = planMembership(situation);
  if (decision?.kind !== 'operate' || decision.step.kind !== 'removeMember') return undefined;
  const { id, replacement } = decision.step;
  const leaving = situation.members.find(view => view.id === id);
  if (replacement !== undefined || leaving === undefined) return undefined;
  if (leaving.isLearner || isStaying(leaving)) return undefined;
  return isStopped(situation, decision) ? undefined : decision;
}

function isStopped(situation: Situation, decision: Extract<Decision, { kind: 'operate' }>): boolean {
  return hasFailed(situation.workflowState, decision) || abortOf(situation, decision) !== undefined;
}

export const scaleCluster: OperationRow = {
  takesAway: 'memberOfStep',
  status: situation => ({ learner: learnerSeen(situation) }),
  change: ({ cluster, members }) => ({ from: String(members.length), to: String(cluster.config.size) }),
  conditions: ({ cluster, members }) => {
    const { size } = cluster.config;
    const message = `Current cluster size: ${members.length}, desired cluster size: ${size}`;
    // Whatever the present step is: a member that goes is stopped, and the leader moved, before it is removed.
    if (members.length > size) return [finding('Scaling', 'ScalingDown', message)];
    const voters = members.filter(({ isLearner }) => !isLearner);
    return voters.length < size ? [finding('Scaling', 'ScalingUp', message)] : [];
  },
  isReached: isWhole,
};

export const replaceMember: RequestedRow = {
  request: aboutVoter({
    progress: (situation, { target }, view) => {
      const { cluster, members } = situation;
      if (view === undefined && verdictOf(situation).kind === 'undecided')
        return done(
          `${target} was removed; the other members hold different data, too: say which of them goes`,
        );
      const isWhole = members.length >= cluster.config.size && !members.some(({ isLearner }) => isLearner);
      return view === undefined && isWhole ? done(`${target} was replaced`) : undefined;
    },
  }),
  status: situation => ({ replacements: replacementsAfter(situation) }),
  why: situation => (isOfHealthy(situation) ? whyReplaced(situation) : undefined),
  change: situation => (isOfHealthy(situation) ? placesOf(situation) : undefined),
  conditions: (_situation, { plan }) => [finding('Recovering', 'ReplacingMember', plan[0]?.summary)],
  isReached: (situation, recorded, isDone) => isDone ?? isReplaced(situation, recorded),
};

/** Members are replaced that are well, or were: the operation goes on until what the last one left is cleared away. */
function isOfHealthy(situation: Situation): boolean {
  const { operation } = situation.cluster.status;
  if (operation?.type === 'replaceMember') return operation.from !== undefined;
  const isAsked = askedIds(situation, 'replaceMember').length > 0;
  return !isAsked && membersToReplace(situation).length > 0 && nobodyIsLost(situation);
}

function whyReplaced(situation: Situation): string {
  return membersOnLeavingNodes(situation).length > 0
    ? 'a node is to be drained, and the data of its member is in its pod'
    : 'spec.storage asks for other volumes';
}

/** Volumes, or nodes. */
function placesOf(situation: Situation): { readonly from: string; readonly to: string } {
  const { cluster } = situation;
  if (cluster.status.storage?.kind !== 'EmptyDir')
    return { from: volumesRecorded(cluster), to: volumesAskedFor(cluster) };
  const [first] = membersOnLeavingNodes(situation);
  return { from: (first?.view.pod?.node ?? '').slice(0, LONGEST_NAME), to: 'another node' };
}

function isReplaced(situation: Situation, { from }: OperationStatus): boolean {
  if (from !== undefined && membersToReplace(situation).length > 0) return false;
  return isWhole(situation) && nobodyIsLost(situation);
}

function nobodyIsLost(situation: Situation): boolean {
  return situation.members.every(view => lossOf(situation, view) === undefined);
}

function isWhole({ cluster, members }: Situation): boolean {
  const voters = members.filter(({ isLearner, started }) => !isLearner && started);
  return voters.length === cluster.config.size && voters.length === members.length;
}
