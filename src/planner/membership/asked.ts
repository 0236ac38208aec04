/** The member that somebody asked to have replaced. */
import type { Observation } from '../observation.ts';
import { askedIds } from '../requests.ts';
import type { Seat } from './seats.ts';

/** Its seat, for as long as it is a voter; undefined when nobody asked. */
export function askedSeat(observation: Observation, seats: readonly Seat[]): Seat | undefined {
  const ids = askedIds(observation, 'replaceMember');
  return seats.find(seat => seat.ours && !seat.isLearner && ids.includes(seat.id));
}

/** How many members there are to be now: one more than asked for, while one that is to go waits for its successor. */
export function sizeForNow(observation: Observation, seats: readonly Seat[]): number {
  return observation.cluster.config.size + (askedSeat(observation, seats) === undefined ? 0 : 1);
}
