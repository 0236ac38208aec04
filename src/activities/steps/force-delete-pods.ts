import type { Step } from '../../planner/model/decision.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { POD } from '../runtime/kinds.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { stillPlanned } from './still-planned.ts';

/**
 * Takes these very pods (by uid) out of Kubernetes without asking their nodes, which are proved gone, or of which a person said so.
 * That is looked at once more right before.
 */
export async function forceDeletePods(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'forceDeletePods' }>,
): Promise<void> {
  await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  for (const { name, uid } of step.pods)
    await deps.kube.delete({ ...POD, namespace, name }, { uid, gracePeriodSeconds: 0 });
  const message = `forced the deletion of pods: ${step.because}`;
  recordClusterEvent(deps, ref, { reason: 'PodsForceDeleted', message });
}
