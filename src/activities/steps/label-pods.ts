import type { Step } from '../../planner/model/decision.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { POD } from '../runtime/kinds.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { stillPlanned } from './still-planned.ts';

/** Puts labels back on these very pods (by uid). Doing it twice changes nothing. */
export async function labelPods(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'labelPods' }>,
): Promise<void> {
  await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  for (const { name, uid, labels } of step.pods) {
    await deps.kube.patch({ ...POD, namespace, name }, { metadata: { uid, labels } }, { type: 'merge' });
    const message = `restored ${Object.keys(labels).join(', ')} on pod ${name}`;
    recordClusterEvent(deps, ref, { reason: 'ObjectPutBack', message });
  }
}
