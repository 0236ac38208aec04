/**
 * Replacement of members whose data is proved lost: remove, then add. Removing first is what etcd allows (it refuses
 * to add while a voter of three is down) and what is safe: a dead voter counts against quorum until it is removed.
 */
import { parseTimestamp } from '../../api/time.ts';
import { blocked, operate } from '../answers.ts';
import type { Obstacle } from '../checks.ts';
import { consentTo } from '../consent.ts';
import type { Decision, Step } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { graceLeftMs, lossOf } from './evidence.ts';
import { onlyOurs, restHasQuorum } from './preflight.ts';
import type { Seat } from './seats.ts';

const HOUR_MS = 3_600_000;

/** The removal of one dead voter; undefined when none is proved dead. */
export function planReplacement(observation: Observation, seats: readonly Seat[]): Decision | undefined {
  const dead = seats.filter(seat => !seat.isLearner && lossOf(observation, seat) !== undefined);
  const [first] = dead.sort((a, b) => graceLeftMs(observation, a) - graceLeftMs(observation, b));
  if (first === undefined) return undefined;
  const step = removal(observation, seats, first);
  const obstacle = onlyOurs(seats) ?? graceOver(observation, first) ?? restHasQuorum(seats, first);
  if (obstacle !== undefined) return blocked(obstacle, [step]);
  const exceeded = budgetExceeded(observation, first);
  if (exceeded === undefined) return operate('replaceMember', [step]);
  const answer = consentTo(observation, { operation: 'replaceMember', ids: [first.id] }, exceeded);
  return 'obstacle' in answer
    ? blocked(answer.obstacle, [step])
    : operate('replaceMember', [step], answer.approval);
}

function removal(observation: Observation, seats: readonly Seat[], { name, id }: Seat): Step {
  const seat = seats.find(candidate => candidate.id === id);
  const reason = (seat && lossOf(observation, seat)) ?? 'its data is lost';
  const expected = seats.map(candidate => candidate.id);
  return { kind: 'removeMember', member: name, id, expected, reason, dead: true };
}

function graceOver(observation: Observation, seat: Seat): Obstacle | undefined {
  const left = graceLeftMs(observation, seat);
  if (left === 0) return undefined;
  return {
    reason: 'WaitingForMember',
    message: `${seat.name} is lost: ${lossOf(observation, seat)}; it is replaced in ${Math.ceil(left / 1_000)} s unless the node comes back (spec.repair.replaceAfterSeconds)`,
  };
}

/** Members that go on being lost are a fault that replacing does not mend: a person is asked. */
function budgetExceeded({ cluster, now }: Observation, seat: Seat): Obstacle | undefined {
  const { maxReplacementsPerHour } = cluster.config.repair;
  const lately = (cluster.status.replacements ?? []).filter(
    ({ time, member }) => now - (parseTimestamp(time) ?? 0) < HOUR_MS && member !== seat.name,
  );
  if (lately.length < maxReplacementsPerHour) return undefined;
  return {
    reason: 'ReplacementBudget',
    message: `${seat.name} is lost, but ${lately.length} members were replaced within the hour (spec.repair.maxReplacementsPerHour is ${maxReplacementsPerHour}); find out why, then approve of this one or raise it`,
  };
}
