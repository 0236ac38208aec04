/** Leadership handed to the member that somebody asked for. */
import { blocked, operate } from './answers.ts';
import type { Decision, Step } from './decision.ts';
import { everyVoterHealthy } from './membership/preflight.ts';
import { seatsOf } from './membership/seats.ts';
import { leaderOf } from './membership/succession.ts';
import type { Observation } from './observation.ts';
import { askedIds } from './requests.ts';

/** The hand-over; undefined when nobody asked, or when it is done. */
export function planMoveLeader(observation: Observation): Decision | undefined {
  const ids = askedIds(observation, 'moveLeader');
  const seats = seatsOf(observation);
  const to = seats.find(seat => !seat.isLearner && ids.includes(seat.id));
  const from = leaderOf(seats);
  if (to === undefined || from?.id === to.id) return undefined;
  const steps: Step[] =
    from === undefined ? [] : [{ kind: 'moveLeader', from: from.name, to: to.name, toId: to.id }];
  const obstacle = everyVoterHealthy(seats);
  if (obstacle !== undefined) return blocked(obstacle, steps);
  return steps.length === 0 ? undefined : operate('moveLeader', steps);
}
