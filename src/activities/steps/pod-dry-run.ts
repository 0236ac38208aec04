import { isAlreadyExists, KubeError } from '../../kube/errors.ts';
import { memberPod } from '../../objects/pod.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';

/**
 * Asks the API server whether it would take the pod that is to follow the one of this name, without making it (dry run): nobody is
 * stopped who could not be started again, such as the only member of a cluster for a misspelt affinity.
 * @throws what the API server says against it, or that it cannot be asked.
 */
export async function dryRunCreatePod(deps: Dependencies, ref: ClusterRef, member: string): Promise<void> {
  const cluster = await readLivingCluster(deps.kube, ref);
  const { incarnation, currentVersion } = cluster.status ?? {};
  const pod = memberPod(cluster, {
    name: member,
    token: incarnation?.token ?? '',
    start: { state: 'restart' },
    storage: 'PersistentVolumeClaim',
    version: currentVersion,
  });
  try {
    await deps.kube.create(pod, { dryRun: true });
  } catch (error) {
    // Its name is looked at last: all else was found to be good.
    if (!isAlreadyExists(error) && !isForNow(error)) throw error;
  }
}

/** A quota has room again when the pod goes that is there now; and a webhook may know no dry runs. */
function isForNow(error: unknown): boolean {
  return error instanceof KubeError && /exceeded quota|does not support dry run/.test(error.message);
}
