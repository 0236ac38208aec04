/** The pods that a restore makes beside those of members: two that lend it a claim, and one that runs etcdutl. */
import { selectorText } from '../../../api/names.ts';
import { SEED_POD_LABELS } from '../../../objects/seed-pod.ts';
import { endLeftPod } from '../../backup/serving-pod.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { POD } from '../../runtime/kinds.ts';
import { isControlledBy } from '../../observe/object-facts.ts';
import type { RestoreRef } from '../../resource/etcd-restore.ts';

/**
 * Ends those that an operator that was killed has left, also of a member that nobody remembers because the status was lost. To be called
 * when the restore has no use for any of them.
 */
export async function endRestorePods(
  { kube }: Pick<Dependencies, 'kube'>,
  restore: RestoreRef,
): Promise<void> {
  const owner = { kind: 'EtcdRestore', ...restore } as const;
  await endLeftPod(kube, owner);
  await endLeftPod(kube, { ...owner, role: 'volume' });
  const { namespace } = restore;
  const { items } = await kube.list(POD, { namespace, labelSelector: selectorText(SEED_POD_LABELS) });
  for (const { metadata } of items.filter(pod => isControlledBy(pod, restore.uid))) {
    const { name, uid } = metadata;
    await kube.delete({ ...POD, namespace, name }, { uid, gracePeriodSeconds: 1 });
  }
}
