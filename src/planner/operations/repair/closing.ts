/**
 * What the operator has opened and must close before it stands still (docs/decisions/0126-tried-before-and-closed-after.md): members that it stopped and that are to run,
 * one that it gave a version with which it does not start, and a budget that lets nobody go. A member that ended by itself, or by somebody's hand, is none of these:
 * a user who pauses may want just that. A member whose clients were withdrawn is closed by client-routing.ts.
 */
import type { Step, Work } from '../../model/decision.ts';
import type { Situation } from '../../model/situation.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import { securityIsUnchanged } from '../../checks/certificates.ts';
import { firstObstacle, membersAreOurs, peerServiceNameIsFree } from '../../checks/obstacles.ts';
import { membersWithoutPod } from '../../checks/missing-pods.ts';
import { memberNames } from '../../model/member-names.ts';
import { failedMember } from '../upgrade/failure.ts';
import { allHaveRun } from '../upgrade/goal.ts';
import { afterFailure } from '../upgrade/rollback.ts';
import { loweringSteps, raisingSteps } from './budget.ts';
import { missingPods, versionsAreKnown } from './index.ts';

/**
 * The steps that give back what the operator took, while `stopped` may not be done; undefined: nothing was planned, an obstacle is in the way.
 * None while the cluster serves no clients on request: while it hibernates, is deleted, or is fenced for a restore.
 * Before all of them members are kept from eviction.
 */
export function closingSteps(situation: Situation, stopped: Work | undefined): Step[] {
  const { cluster } = situation;
  if (cluster.deleting || cluster.config.hibernated || cluster.status.clusterID === undefined) return [];
  const raising = raisingSteps(situation);
  if (raising.length > 0 || stopped === undefined) return raising;
  if (restoreUnderWay(cluster) !== undefined || stopped.operation === 'restoreCluster') return [];
  const unsafe = [peerServiceNameIsFree, membersAreOurs, versionsAreKnown, securityIsUnchanged];
  if (firstObstacle(situation, unsafe) !== undefined) return [];
  const taken = takenDown(situation);
  const starts = missingPods(situation).filter(
    step => step.kind === 'restartMember' && taken.includes(step.member),
  );
  if (starts.length > 0) return starts;
  const back = takingBack(situation);
  return back.length > 0 ? back : loweringSteps(situation);
}

/** Members without a pod that the operator stopped, as their claims say, and those that it has not woken yet when others are awake. */
export function takenDown(situation: Situation): string[] {
  const { claims, cluster, pods } = situation;
  const gone = membersWithoutPod(situation);
  const isWaking =
    cluster.status.operation?.type === 'wakeCluster' &&
    pods.some(pod => pod.owned && memberNames(situation).includes(pod.name));
  if (isWaking) return gone;
  return gone.filter(name => claims.some(claim => claim.name === name && claim.stopped !== undefined));
}

/** A member that does not start with the version that it was given gets back the one that it ran. */
export function takingBack(situation: Situation): Step[] {
  const { goal } = situation;
  if (goal.kind !== 'go' || allHaveRun(goal)) return [];
  const failed = failedMember(situation, goal);
  if (failed === undefined) return [];
  const decision = afterFailure(situation, goal, failed);
  return decision.kind === 'operate' ? [decision.step] : [];
}
