/** The PodDisruptionBudget after a change of the membership. Pure. */
import { factsOf, OPERATION_NAMES } from '../../../api/operations.ts';
import { budgetIsTooHigh, budgetIsTooLow, minAvailableNow } from '../../checks/disruptions.ts';
import { type Decision, operate, type Step } from '../../model/decision.ts';
import type { MemberView } from '../../model/member-view.ts';
import type { Situation } from '../../model/situation.ts';

/** The step that lets the budget keep that many members from eviction. */
export function budgetStep(minAvailable: number, because: string): Step {
  return {
    kind: 'applyObjects',
    objects: [{ object: 'disruptionBudget', because, follows: true }],
    minAvailable,
  };
}

/**
 * The step that raises it, in every state of a cluster: also a pause lets nobody take a quorum. What somebody edited by hand is put back by a repair,
 * which a pause holds back; a budget without a number is one of an earlier release, which goes by the size that is wished.
 */
export function raisingSteps(situation: Situation): Step[] {
  const { difference, minAvailable, owned } = situation.disruptionBudget;
  const isEdited = difference !== undefined && minAvailable !== undefined;
  const because = difference ?? budgetIsTooLow(situation);
  if (!owned || isEdited || because === undefined) return [];
  return [budgetStep(minAvailableNow(situation), because)];
}

/** What raises it, and lowers it again. */
const RAISED_BY = OPERATION_NAMES.filter(name => factsOf(name)?.raisesBudget === true);

/**
 * A budget that is stricter than the members need is lowered when all are ready again: until then a drain waits. While one is not, it
 * lets nobody go in either case.
 */
export function planBudget(situation: Situation): Decision | undefined {
  const steps = loweringSteps(situation);
  if (steps.length === 0) return undefined;
  const underWay = RAISED_BY.find(each => each === situation.cluster.status.operation?.type);
  return operate(underWay ?? 'repairCluster', steps);
}

/** The step that lowers it; none when it is as it should be, or not every member has a ready pod. */
export function loweringSteps(situation: Situation): Step[] {
  const because = budgetIsTooHigh(situation);
  if (because === undefined || !situation.members.every(hasReadyPod)) return [];
  return [budgetStep(minAvailableNow(situation), because)];
}

function hasReadyPod({ pod }: MemberView): boolean {
  return pod !== undefined && pod.ready && !pod.deleting;
}
