/**
 * How a healthy member goes (docs/decisions, "A healthy member is stopped before it is removed"): its etcd is stopped first,
 * which sends its clients elsewhere when their calls are answered, and then it is removed. One that is removed while it runs
 * breaks off what its clients asked of it.
 */
import type { Step } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { isHealthy, type Seat } from './seats.ts';

/** With fewer voters, those that stay would be no quorum while the stopped one still counts. */
const FEWEST_VOTERS = 3;

/**
 * The stop that precedes the removal of a healthy member; nothing for one that is to be removed as it is. Its volume must be
 * there: if the removal cannot follow, it is started again.
 */
export function farewell(
  { cluster }: Observation,
  seats: readonly Seat[],
  { seat, reason }: { readonly seat: Seat; readonly reason: string },
): Step[] {
  const { name: member, pod, claim } = seat;
  if (cluster.status.storage?.kind !== 'PersistentVolumeClaim' || seats.length < FEWEST_VOTERS) return [];
  if (!isHealthy(seat) || pod === undefined || claim === undefined) return [];
  if (claim.deleting || claim.phase === 'Lost') return [];
  const purpose = 'removal';
  return [{ kind: 'stopMember', member, uid: pod.uid, claimUid: claim.uid, purpose, because: reason }];
}
