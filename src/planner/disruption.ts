import type { StepKind } from './decision.ts';
import type { Actor, Observation } from './observation.ts';
import { plan } from './plan.ts';
import { isAboutToEnd } from './upgrade/goal.ts';

/** Steps before which the members' keys are compared. */
const TOUCHING: readonly StepKind[] = ['stopMember', 'replaceImage', 'moveLeader'];

/** Whether every other gate is open and a member would be touched now, or an upgrade ends: the moment to compare the members' keys. */
export function isToCompareKeys(observation: Observation, actor: Actor): boolean {
  if (isAboutToEnd(observation)) return true;
  const decision = plan(observation, actor);
  // Somebody who is asked for consent is to know this, too.
  if (decision.kind === 'blocked') return decision.consent?.operation === 'upgradeCluster';
  if (decision.kind !== 'operate') return false;
  const { step } = decision;
  return TOUCHING.includes(step.kind) && !(step.kind === 'stopMember' && step.purpose === 'removal');
}
