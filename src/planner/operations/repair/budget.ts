/** The PodDisruptionBudget after a change of the membership. Pure. */
import { budgetIsTooHigh, minAvailableNow } from '../../checks/disruptions.ts';
import { type Decision, operate, type Operation, type Step } from '../../model/decision.ts';
import type { Situation } from '../../model/situation.ts';

/** The step that lets the budget keep that many members from eviction. */
export function budgetStep(minAvailable: number, because: string): Step {
  return { kind: 'applyObjects', objects: [{ object: 'disruptionBudget', because }], minAvailable };
}

/** It is their last step. */
const CHANGES_OF_MEMBERSHIP: readonly Operation[] = ['scaleCluster', 'replaceMember'];

/** A budget that is stricter than the members need is lowered when nothing else is to be done: until then a drain waits. */
export function planBudget(situation: Situation): Decision | undefined {
  const because = budgetIsTooHigh(situation);
  if (because === undefined) return undefined;
  const underWay = CHANGES_OF_MEMBERSHIP.find(each => each === situation.cluster.status.operation?.type);
  return operate(underWay ?? 'repairCluster', [budgetStep(minAvailableNow(situation), because)]);
}
