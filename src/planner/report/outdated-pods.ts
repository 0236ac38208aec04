import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { firstObstacle, specificationIsUsable } from '../checks/obstacles.ts';
import { memberNames } from '../model/member-names.ts';
import type { PodFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';
import { podChanges } from '../checks/pod-changes.ts';
import { securityIsUnchanged } from '../checks/certificates.ts';

/** Members whose pods another release of the operator made otherwise, and which nobody restarts for that. */
export function outdatedPods(situation: Situation): ConditionFinding[] {
  if (firstObstacle(situation, [specificationIsUsable, securityIsUnchanged]) !== undefined) return [];
  const names = memberNames(situation);
  const members = situation.pods.filter(pod => pod.owned && !pod.deleting && names.includes(pod.name));
  const found = members.flatMap(pod => differenceOf(situation, pod));
  if (found.length === 0) return [];
  const mayStartEmpty = members.some(pod => pod.firstStart === 'fixed');
  const reason = mayStartEmpty ? 'MayStartEmpty' : 'MadeByEarlierRelease';
  return [finding('PodsOutdated', reason, found.join('; '))];
}

function differenceOf(situation: Situation, pod: PodFacts): string[] {
  const { rendered } = podChanges(situation, pod);
  if (pod.firstStart === 'fixed') return [`${pod.name} would start on an empty volume`];
  const more = rendered.length > 1 ? ` and ${rendered.length - 1} more` : '';
  return rendered.length === 0 ? [] : [`${pod.name}: ${rendered[0]}${more}`];
}
