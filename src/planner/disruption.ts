import type { StepKind } from './decision.ts';
import type { Observation } from './observation.ts';
import { plan } from './plan.ts';

/** Steps before which the members' keys are compared. */
const TOUCHING: readonly StepKind[] = ['stopMember', 'replaceImage', 'moveLeader'];

/** Whether every other gate is open and a change would touch a member now: the moment to compare the members' keys. */
export function isAboutToTouchAMember(observation: Observation): boolean {
  const decision = plan(observation, {});
  // Somebody who is asked for consent is to know this, too.
  if (decision.kind === 'blocked') return decision.consent?.operation === 'upgradeCluster';
  return decision.kind === 'operate' && TOUCHING.includes(decision.step.kind);
}
