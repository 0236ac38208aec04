/**
 * How many pods the PodDisruptionBudget has to keep from eviction. It counts who votes, as a quorum lists them, and never what is wished. The
 * number is raised before a learner is added, whose pod would count as one of those that stay, and lowered after everything else. Pure.
 */
import { minAvailableOf } from '../../objects/budget.ts';
import type { Situation } from '../model/situation.ts';
import { isDataInPods } from './leaving-members.ts';

/**
 * The number for the members as they are, and `joining` more learners. While no quorum lists the members, the number that the budget has; one that is
 * missing then gets that of the members that were last known.
 */
export function minAvailableNow(situation: Situation, joining = 0): number {
  const { cluster, members, membership, disruptionBudget } = situation;
  const wanted = cluster.config.size;
  if (membership.known) {
    const voters = members.filter(({ isLearner }) => !isLearner).length;
    // No pod of ours belongs to one that somebody added by hand.
    const learners = members.filter(({ isLearner, ours }) => isLearner && ours).length + joining;
    return isDataInPods(situation) ? voters + learners : minAvailableOf({ voters, learners, wanted });
  }
  if (disruptionBudget.minAvailable !== undefined) return disruptionBudget.minAvailable;
  const { members: recorded, incarnation } = cluster.status;
  const known = recorded?.details?.length || incarnation?.members.length;
  return minAvailableOf({ voters: known ?? wanted, learners: 0, wanted });
}

/** Why the budget lets more members be evicted than may be; undefined when it does not, or is not there. */
export function budgetIsTooLow(situation: Situation, joining = 0): string | undefined {
  const { minAvailable, owned } = situation.disruptionBudget;
  const least = minAvailableNow(situation, joining);
  if (!owned || minAvailable === undefined || minAvailable >= least) return undefined;
  return `spec.minAvailable is ${minAvailable} and has to be ${least}`;
}

/** Why the budget keeps more members from eviction than need be; undefined when it does not, or is not there. */
export function budgetIsTooHigh(situation: Situation): string | undefined {
  const { minAvailable, owned } = situation.disruptionBudget;
  const enough = minAvailableNow(situation);
  if (!owned || minAvailable === undefined || minAvailable <= enough) return undefined;
  return `spec.minAvailable is ${minAvailable} and ${enough} is enough`;
}
