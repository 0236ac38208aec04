import type { Step } from '../../planner/decision.ts';
import type { Dependencies } from '../dependencies.ts';
import { CLAIM } from '../observe.ts';
import type { ClusterRef } from '../resource.ts';
import { stillPlanned } from './still-planned.ts';

/**
 * Puts labels and annotations on this very claim (by uid). What it says of its member is looked at once more right before: a note of
 * its uid, or of its cluster, is believed later.
 */
export async function labelClaim(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'labelClaim' }>,
): Promise<void> {
  await stillPlanned(deps, ref, step);
  const at = { ...CLAIM, namespace: ref.namespace, name: step.claim };
  const { labels, annotations } = step;
  await deps.kube.patch(at, { metadata: { uid: step.uid, labels, annotations } }, { type: 'merge' });
}
