/**
 * The gates between two members of a rollout: nothing is done to the next member until the cluster is as good as new.
 * The order is that of etcd's own advice for rolling changes (etcd documentation, "Upgrade etcd": every member healthy before the
 * next one is touched), with what an operator can see besides: learners, alarms, lag, and readiness.
 */
import type { Obstacle } from './checks.ts';
import { type Seat, seatsOf } from './membership/seats.ts';
import type { Observation } from './observation.ts';
import { certificatesAreGood } from './tls.ts';

/** Entries of the log that a member may lack, or have and not have applied, and still count as level with the others. */
const MOST_LAG = 1_000;

/**
 * What keeps the next member from being touched, or nothing. `tolerated` matches alarms that the change itself is the
 * cure of.
 */
export function nextMemberMayGo(observation: Observation, tolerated?: RegExp): Obstacle | undefined {
  const uncertified = certificatesAreGood(observation);
  if (uncertified !== undefined) return uncertified;
  const { membership } = observation;
  if (!membership.known) return { reason: 'NoQuorum', message: `no quorum answers: ${membership.message}` };
  const seats = seatsOf(observation);
  const gates = [
    unfinished(seats),
    unwell(seats, tolerated),
    unsettled(seats),
    behind(seats),
    unready(seats),
    mixed(seats),
  ];
  return gates.find(gate => gate !== undefined);
}

function unfinished(seats: readonly Seat[]): Obstacle | undefined {
  const found = seats.filter(seat => seat.isLearner || !seat.started);
  return obstacle('LearnerPresent', found, 'has not become a full member yet');
}

function unwell(seats: readonly Seat[], tolerated: RegExp | undefined): Obstacle | undefined {
  const faults = seats.flatMap(({ name, probe }) => {
    if (probe === undefined) return [`${name} does not answer`];
    const errors = probe.errors.filter(error => tolerated?.test(error) !== true);
    if (errors.length > 0) return [`${name}: ${errors.join(', ')}`];
    return probe.read.ok ? [] : [`${name}: ${probe.read.message}`];
  });
  return faults.length === 0 ? undefined : { reason: 'MembersUnhealthy', message: faults.join('; ') };
}

function unsettled(seats: readonly Seat[]): Obstacle | undefined {
  const leaders = new Set(seats.map(({ probe }) => `${probe?.leaderId}/${probe?.raftTerm}`));
  return leaders.size === 1
    ? undefined
    : { reason: 'LeaderUnclear', message: 'the members do not agree on leader and term' };
}

function behind(seats: readonly Seat[]): Obstacle | undefined {
  const indexes = seats.map(({ probe }) => Number(probe?.raftIndex ?? 0));
  const newest = Math.max(...indexes);
  const lagging = seats.filter(({ probe }) => newest - Number(probe?.raftAppliedIndex ?? 0) >= MOST_LAG);
  return obstacle('MembersBehind', lagging, `has not applied ${MOST_LAG} entries or more of the log`);
}

function unready(seats: readonly Seat[]): Obstacle | undefined {
  const found = seats.filter(({ pod }) => pod === undefined || !pod.ready || pod.deleting);
  return obstacle('MembersNotReady', found, 'has no pod that is ready');
}

function mixed(seats: readonly Seat[]): Obstacle | undefined {
  const versions = [...new Set(seats.map(({ probe }) => probe?.version))];
  return versions.length === 1
    ? undefined
    : { reason: 'VersionsDiffer', message: `the members run different versions: ${versions.join(', ')}` };
}

function obstacle(reason: string, found: readonly Seat[], fault: string): Obstacle | undefined {
  return found.length === 0
    ? undefined
    : { reason, message: `${found.map(({ name }) => name).join(', ')} ${fault}` };
}
