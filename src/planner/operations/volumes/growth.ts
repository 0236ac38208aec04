/** Growth of volumes: claims that are smaller than the specification asks for are enlarged, where their class allows it. */
import { askedSize, smallClaims } from '../../checks/volume-sizes.ts';
import { type Decision, operate, type Step } from '../../model/decision.ts';
import type { Observation } from '../../model/observation.ts';

/** What growth does next; undefined when no claim can be enlarged. Kubernetes resizes bound claims only. */
export function planGrowth(observation: Observation): Decision | undefined {
  const size = askedSize(observation);
  if (size === undefined) return undefined;
  const steps = smallClaims(observation)
    .filter(claim => claim.phase === 'Bound' && claim.expandable === true)
    .map(
      ({ name: claim, uid, requested: from = '' }): Step => ({ kind: 'expandClaim', claim, uid, from, size }),
    );
  return steps.length === 0 ? undefined : operate('rolloutCluster', steps);
}
