import type { KubeObject } from '../../../kube/port.ts';
import { memberPod } from '../../../objects/pod.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { readLivingCluster } from '../../resource/etcd-cluster.ts';
import type { ClusterRef } from '../../runtime/cluster-reference.ts';
import { tryObjects } from './trial.ts';

interface Successor {
  /** The one that it follows. */
  readonly pod: KubeObject;
  /** What it is to run; absent: the version that the cluster runs. */
  readonly version?: string | undefined;
  readonly image?: string | undefined;
}

/**
 * Tries the pod that is to follow this one: nobody is stopped who could not be started again, such as the only member of a cluster for a
 * misspelt affinity, or for requests that a quota has no room for even without this pod.
 * @throws what the API server says against it, or that it cannot be asked.
 */
export async function dryRunCreatePod(
  deps: Dependencies,
  ref: ClusterRef,
  { pod, version, image }: Successor,
): Promise<void> {
  const cluster = await readLivingCluster(deps.kube, ref);
  const { incarnation, currentVersion } = cluster.status ?? {};
  const next = memberPod(cluster, {
    name: pod.metadata.name,
    token: incarnation?.token ?? '',
    start: { state: 'restart' },
    storage: 'PersistentVolumeClaim',
    version: version ?? currentVersion,
    image,
  });
  await tryObjects(deps.kube, { objects: [next], gone: [pod] });
}
