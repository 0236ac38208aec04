/** The member that is to be replaced though it is well: its successor is added first. */
import type { Situation } from '../../model/situation.ts';
import { askedIds, requestUnderWay } from '../../checks/human-requests.ts';
import { said } from '../../model/attribution.ts';
import { exchangeOf } from '../../checks/exchanged-claims.ts';
import type { Seat } from '../../model/member-view.ts';

/** The seat that somebody asked to have replaced, for as long as it is a voter; undefined when nobody asked. */
export function askedSeat(observation: Situation, seats: readonly Seat[]): Seat | undefined {
  const ids = askedIds(observation, 'replaceMember');
  return seats.find(seat => seat.ours && !seat.isLearner && ids.includes(seat.id));
}

/** The voter that goes when its successor is there, and why. Whom people name goes first. */
export function departing(
  observation: Situation,
  seats: readonly Seat[],
): { readonly seat: Seat; readonly reason: string } | undefined {
  const asked = askedSeat(observation, seats);
  if (asked !== undefined) {
    const request = requestUnderWay(observation);
    return { seat: asked, reason: `${said(request ?? {})} asked to have it replaced` };
  }
  const doomed = seats.find(seat => isDoomed(observation, seat));
  return doomed && { seat: doomed, reason: 'its volume is lost as soon as its pod stops' };
}

/**
 * Somebody deleted the claim under a running member, or another one stands there since: Kubernetes keeps the volume only for as
 * long as its pod is there.
 */
function isDoomed(observation: Situation, seat: Seat): boolean {
  const { cluster, claims } = observation;
  const { ours, isLearner, name, probe, pod, claim } = seat;
  if (!ours || isLearner || probe === undefined || pod === undefined) return false;
  if (cluster.status.storage?.kind !== 'PersistentVolumeClaim') return false;
  if (claim === undefined) return !claims.some(other => other.name === name);
  return claim.deleting || claim.phase === 'Lost' || exchangeOf(observation, claim) !== undefined;
}

/** How many members there are to be now: one more than asked for, while one that is to go waits for its successor. */
export function sizeForNow(observation: Situation, seats: readonly Seat[]): number {
  return observation.cluster.config.size + (departing(observation, seats) === undefined ? 0 : 1);
}
