import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { askedSize, isSmaller, smallClaims } from '../checks/volume-sizes.ts';
import { memberNames } from '../model/member-names.ts';
import { namesOf } from '../model/steps/row.ts';
import type { ClaimFacts, Observation } from '../model/observation.ts';

const TYPE = 'StorageResized';

/** How far the volumes are on their way to the size asked for. Said from when they were first too small on. */
export function growing(observation: Observation): ConditionFinding[] {
  const asked = askedSize(observation);
  if (asked === undefined) return [];
  const small = smallClaims(observation);
  const fixed = small.filter(claim => claim.expandable === false);
  if (fixed.length > 0) {
    const [{ storageClassName = '' } = fixed[0] as ClaimFacts] = fixed;
    const message = `${namesOf(fixed)} cannot grow to ${asked}: StorageClass ${storageClassName} does not have allowVolumeExpansion`;
    return [finding(TYPE, 'ExpansionNotAllowed', message)];
  }
  const names = memberNames(observation);
  const own = observation.claims.filter(claim => claim.owned && names.includes(claim.name));
  const failed = own.filter(claim => /error|infeasible/i.test(claim.resizing ?? ''));
  const waiting = own.filter(claim => small.includes(claim) || isSmaller(claim.capacity, asked));
  if (failed.length > 0) return [finding(TYPE, 'ResizeFailed', failed.map(progress).join('; '))];
  if (waiting.length > 0) return [finding(TYPE, 'Resizing', waiting.map(progress).join('; '))];
  const wasReported = observation.cluster.status.conditions?.some(condition => condition.type === TYPE);
  return wasReported === true ? [finding(TYPE, 'SizeReached', `every volume has at least ${asked}`)] : [];

  function progress({ name, capacity = 'no volume', resizing }: ClaimFacts): string {
    return `${name}: ${capacity} of ${asked}${resizing === undefined ? '' : ` (${resizing})`}`;
  }
}
