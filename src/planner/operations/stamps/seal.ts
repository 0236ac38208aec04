/**
 * Sealing: a member that has started must never start again on an empty volume under its old id, where it could outvote the
 * members that hold the data. Its pod had bootstrap flags; from the moment in which a quorum lists the member
 * as started it refuses an empty volume (objects/first-start.ts). Also whenever somebody has edited these flags.
 */
import { type Decision, operate } from '../../model/decision.ts';
import { firstObstacle, membersAreOurs, peerServiceNameIsFree } from '../../checks/obstacles.ts';
import type { SealedMember } from '../../model/steps/creation.ts';
import { type MemberView } from '../../model/member-view.ts';
import type { Situation } from '../../model/situation.ts';

/** Seals voters that have started; undefined when all are sealed. Learners are sealed on their way to become voters. */
export function planSealing(situation: Situation): Decision | undefined {
  if (situation.cluster.status.clusterID === undefined) return undefined;
  // Repair says so.
  if (firstObstacle(situation, [peerServiceNameIsFree, membersAreOurs]) !== undefined) return undefined;
  const members = unsealed(situation.members.filter(seat => !seat.isLearner && seat.started));
  return members.length === 0 ? undefined : operate('repairCluster', [{ kind: 'sealMembers', members }]);
}

/** Those of these members whose pods can be sealed and are not. */
export function unsealed(views: readonly MemberView[]): SealedMember[] {
  return views.flatMap(({ ours, name, id, pod }) =>
    ours && pod?.firstStart === 'open' && !pod.deleting ? [{ name, id, uid: pod.uid }] : [],
  );
}
