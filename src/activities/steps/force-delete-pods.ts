import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { POD } from '../runtime/kinds.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Takes these very pods (by uid) out of Kubernetes without asking their nodes, which are proved gone, or of which a person said so.
 * That is looked at once more right before.
 */
export const forceDeletePods: Perform<'forceDeletePods'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  for (const { name, uid } of step.pods)
    await deps.kube.delete({ ...POD, namespace, name }, { uid, gracePeriodSeconds: 0 });
  const message = `forced the deletion of pods: ${step.because}`;
  recordClusterEvent(deps, ref, { reason: 'PodsForceDeleted', message });
};
