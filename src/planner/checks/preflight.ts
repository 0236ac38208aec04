/** What must hold right before a membership change. Each check names what is wrong; the first finding stops. */
import { alarmText } from '../model/alarms.ts';
import type { Obstacle } from '../model/decision.ts';
import { quorum } from './quorum.ts';
import { isServing, isStaying, isVoting, type MemberView } from '../model/member-view.ts';

/** Nobody but this operator has changed the membership. */
export function noForeignMembers(views: readonly MemberView[]): Obstacle | undefined {
  const foreign = views.filter(view => !view.ours);
  if (foreign.length === 0) return undefined;
  const [renamed] = foreign.flatMap(({ domainFault: fault }) => (fault === undefined ? [] : [fault]));
  if (renamed !== undefined) return { reason: 'DomainChanged', message: renamed };
  return {
    reason: 'ForeignMember',
    message: `${foreign.map(view => `${view.name} (${view.id})`).join(', ')} was added manually: the operator does not change the membership while it is present; remove it with etcdctl, or change the membership manually`,
  };
}

/** Who leads is known as soon as the members have heard of each other. */
export const LEADER_UNCLEAR: Obstacle = {
  reason: 'LeaderUnclear',
  message: 'the members do not agree on the leader yet',
};

/**
 * Before a member is added, promoted or a healthy one removed: every voter serves and names the same leader. One without space does:
 * etcd refuses writes of keys and leases then, and no change of the membership (applierV3Capped).
 */
export function everyVoterServes(views: readonly MemberView[]): Obstacle | undefined {
  const voters = views.filter(view => !view.isLearner);
  const unwell = voters.filter(view => !isServing(view));
  if (unwell.length > 0) {
    const names = unwell.map(view => view.name).join(', ');
    return {
      reason: 'MembersUnhealthy',
      message: `the membership is not changed until ${names} is known to be healthy`,
    };
  }
  const leaders = new Set(voters.map(view => view.probe?.leaderId));
  if (leaders.size === 1 && !leaders.has(undefined)) return undefined;
  return LEADER_UNCLEAR;
}

/** Before a healthy member goes: none of the others is about to, though it may still answer. */
export function noPodTerminating(rest: readonly MemberView[]): Obstacle | undefined {
  const ending = rest.filter(view => !isStaying(view));
  if (ending.length === 0) return undefined;
  const names = ending.map(({ name }) => name).join(', ');
  return {
    reason: 'PodTerminating',
    message: `the membership is not changed while the pod of ${names} is terminating`,
  };
}

/** Alarms are named: they are something to be done about. */
function faultOf({ name, probe }: MemberView): string {
  if (probe === undefined) return `${name} does not answer`;
  return `${name}: ${probe.read.ok ? probe.errors.map(alarmText).join(', ') : probe.read.message}`;
}

/**
 * Before a member is removed that is not well: those that stay are healthy in a number that is a quorum of what is left. One that raises an alarm
 * counts: it votes, and no alarm is disarmed while a member does not answer.
 */
export function quorumSurvivesRemoval(
  views: readonly MemberView[],
  leaving: MemberView,
): Obstacle | undefined {
  const rest = views.filter(view => !view.isLearner && view.id !== leaving.id);
  const healthy = rest.filter(isVoting).length;
  if (rest.length > 0 && healthy >= quorum(rest.length)) return undefined;
  const faults = rest.filter(view => !isVoting(view)).map(faultOf);
  return {
    reason: 'QuorumAtRisk',
    message: `${leaving.name} is not removed: only ${healthy} of the ${rest.length} members that would remain are known to be healthy${faults.map(fault => `; ${fault}`).join('')}`,
  };
}

/**
 * Before a member that is not well is restarted: enough others are healthy to be a quorum without it. It is still a voter, and may vote
 * although it does not answer us. Of two, one is never enough, and neither could be restarted otherwise.
 */
export function quorumSurvivesRestart(views: readonly MemberView[], stopping: MemberView): boolean {
  const voters = views.filter(view => !view.isLearner);
  const healthy = voters.filter(view => view.id !== stopping.id && isServing(view)).length;
  return healthy > 0 && healthy >= Math.min(quorum(voters.length), voters.length - 1);
}
