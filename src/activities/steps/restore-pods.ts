/** The pods that a restore makes beside those of members: two that lend it a claim, and one that runs etcdutl. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { seedPodName } from '../../objects/seed-pod.ts';
import { endLeftPod } from '../backup/serving-pod.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { POD } from '../runtime/kinds.ts';
import { isControlledBy } from '../observe/pod-facts.ts';
import type { RestoreRef } from '../resource/etcd-restore.ts';

/** Ends those that an operator that was killed has left. To be called when the restore has no use for any of them. */
export async function endRestorePods(
  { kube }: Pick<Dependencies, 'kube'>,
  restore: RestoreRef,
  { status }: Pick<EtcdCluster, 'status'>,
): Promise<void> {
  const owner = { kind: 'EtcdRestore', ...restore } as const;
  await endLeftPod(kube, owner);
  await endLeftPod(kube, { ...owner, role: 'volume' });
  const [seed] = status?.incarnation?.members ?? [];
  if (seed === undefined) return;
  const ref = { ...POD, namespace: restore.namespace, name: seedPodName(seed.name) };
  const found = await kube.get(ref);
  if (found === undefined || !isControlledBy(found, restore.uid)) return;
  await kube.delete(ref, { uid: found.metadata.uid, gracePeriodSeconds: 1 });
}
