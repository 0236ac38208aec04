import type { Step } from '../../planner/decision.ts';
import type { Dependencies } from '../dependencies.ts';
import { preconditionChanged } from '../failures.ts';
import { CLAIM } from '../observe.ts';
import { type ClusterRef, readLivingCluster } from '../resource.ts';

/** Puts labels and annotations on this very claim (by uid). Doing it twice changes nothing. */
export async function labelClaim(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'labelClaim' }>,
): Promise<void> {
  await readLivingCluster(deps.kube, ref);
  const at = { ...CLAIM, namespace: ref.namespace, name: step.claim };
  const claim = await deps.kube.get(at);
  if (claim?.metadata.uid !== step.uid) {
    throw preconditionChanged(`claim ${step.claim} is not the one that was looked at`);
  }
  const { labels, annotations } = step;
  await deps.kube.patch(at, { metadata: { uid: step.uid, labels, annotations } }, { type: 'merge' });
}
