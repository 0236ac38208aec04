import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { POD } from '../runtime/kinds.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/** Puts labels back on these very pods (by uid). Doing it twice changes nothing. */
export const labelPods: Perform<'labelPods'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  for (const { name, uid, labels } of step.pods) {
    await deps.kube.patch({ ...POD, namespace, name }, { metadata: { uid, labels } }, { type: 'merge' });
    const message = `restored ${Object.keys(labels).join(', ')} on pod ${name}`;
    recordClusterEvent(deps, ref, { reason: 'ObjectPutBack', message });
  }
};
