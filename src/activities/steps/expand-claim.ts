import { ANNOTATION_STORAGE_SIZE } from '../../api/names.ts';
import { isSmaller } from '../../planner/checks/volume-sizes.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { CLAIM } from '../runtime/kinds.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

/**
 * Asks for a larger volume: raises the request of this very claim (by uid). Storage driver and kubelet do the rest while
 * the member runs. A volume never shrinks again, so it is looked at once more right before whether the specification still asks for that. A claim
 * that asks for as much already is left alone; nothing is ever lowered.
 */
export const expandClaim: Perform<'expandClaim'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const at = { ...CLAIM, namespace: ref.namespace, name: step.claim };
  const claim = await deps.kube.get(at);
  if (claim?.metadata.uid !== step.uid || claim.metadata.deletionTimestamp !== undefined) {
    throw preconditionChanged(`claim ${step.claim} has been replaced`);
  }
  const requests = (claim['spec'] as { resources?: { requests?: { storage?: string } } }).resources?.requests;
  if (!isSmaller(requests?.storage, step.size)) return;
  const { uid, resourceVersion } = claim.metadata;
  const annotations = { [ANNOTATION_STORAGE_SIZE]: step.size };
  const spec = { resources: { requests: { storage: step.size } } };
  await deps.kube.patch(at, { metadata: { uid, resourceVersion, annotations }, spec }, { type: 'merge' });
  const message = `claim ${step.claim} is expanded from ${step.from} to ${step.size}`;
  recordClusterEvent(deps, ref, { reason: 'ClaimEnlarged', message });
};
