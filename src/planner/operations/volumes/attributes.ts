/** The VolumeAttributesClass of claims: the one property of a volume besides its size that Kubernetes changes in place (GA since 1.34). */
import { type Decision, operate, type Step } from '../../model/decision.ts';
import { memberNames } from '../../model/member-names.ts';
import type { Observation } from '../../model/observation.ts';

/** Undefined when every member's claim has the class that the template names. One that was taken out of it stays: nobody knows which was before. */
export function planVolumeAttributes(observation: Observation): Decision | undefined {
  const { config, status } = observation.cluster;
  const attributesClass = config.storage.volumeClaimTemplate?.spec['volumeAttributesClassName'];
  if (typeof attributesClass !== 'string' || status.storage?.kind !== 'PersistentVolumeClaim')
    return undefined;
  const names = memberNames(observation);
  const steps = observation.claims
    .filter(claim => claim.owned && !claim.deleting && names.includes(claim.name))
    .filter(claim => claim.phase === 'Bound' && claim.attributesClass !== attributesClass)
    .map(({ name, uid }): Step => ({ kind: 'modifyVolume', claim: name, uid, attributesClass }));
  return steps.length === 0 ? undefined : operate('rolloutCluster', steps);
}
