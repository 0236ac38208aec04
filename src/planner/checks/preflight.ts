/** What must hold right before a membership change. Each check names what is wrong; the first finding stops. */
import type { Obstacle } from '../model/obstacle.ts';
import { quorum } from './quorum.ts';
import { isHealthy, isStaying, type Seat } from '../model/member-view.ts';

/** Nobody but this operator has changed the membership. */
export function onlyOurs(seats: readonly Seat[]): Obstacle | undefined {
  const foreign = seats.filter(seat => !seat.ours);
  if (foreign.length === 0) return undefined;
  const [renamed] = foreign.flatMap(({ domainFault: fault }) => (fault === undefined ? [] : [fault]));
  if (renamed !== undefined) return { reason: 'DomainChanged', message: renamed };
  return {
    reason: 'ForeignMember',
    message: `${foreign.map(seat => `${seat.name} (${seat.id})`).join(', ')} was added by hand; remove it with etcdctl, or scale by hand: the membership is not changed while it is there`,
  };
}

/** Before a member is added, promoted or a healthy one removed: every voter is healthy and names the same leader. */
export function everyVoterHealthy(seats: readonly Seat[]): Obstacle | undefined {
  const voters = seats.filter(seat => !seat.isLearner);
  const unwell = voters.filter(seat => !isHealthy(seat));
  if (unwell.length > 0) {
    const names = unwell.map(seat => seat.name).join(', ');
    return {
      reason: 'MembersUnhealthy',
      message: `the membership is not changed while ${names} is not seen healthy`,
    };
  }
  const leaders = new Set(voters.map(seat => seat.probe?.leaderId));
  if (leaders.size === 1 && !leaders.has(undefined)) return undefined;
  return { reason: 'LeaderUnclear', message: 'the members do not agree on the leader yet' };
}

/** Before a healthy member goes: none of the others is about to, though it may still answer. */
export function nobodyEnds(rest: readonly Seat[]): Obstacle | undefined {
  const ending = rest.filter(seat => !isStaying(seat));
  if (ending.length === 0) return undefined;
  const names = ending.map(({ name }) => name).join(', ');
  return {
    reason: 'PodTerminating',
    message: `the membership is not changed while the pod of ${names} ends`,
  };
}

/** Alarms are named: one of NOSPACE makes every member unhealthy, and is something to be done about. */
function faultOf({ name, probe }: Seat): string {
  if (probe === undefined) return `${name} does not answer`;
  return `${name}: ${probe.read.ok ? probe.errors.join(', ') : probe.read.message}`;
}

/** Before a member is removed: those that stay are healthy in a number that is a quorum of what is left. */
export function restHasQuorum(seats: readonly Seat[], leaving: Seat): Obstacle | undefined {
  const rest = seats.filter(seat => !seat.isLearner && seat.id !== leaving.id);
  const healthy = rest.filter(isHealthy).length;
  if (rest.length > 0 && healthy >= quorum(rest.length)) return undefined;
  const faults = rest.filter(seat => !isHealthy(seat)).map(faultOf);
  return {
    reason: 'QuorumAtRisk',
    message: `${leaving.name} is not removed: of the ${rest.length} members that would stay only ${healthy} are seen healthy${faults.map(fault => `; ${fault}`).join('')}`,
  };
}
