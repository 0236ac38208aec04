import type { EtcdCluster } from '../../../api/schemas/types.ts';
import { messageOf } from '../../../api/values/message-of.ts';
import { parseQuantity } from '../../../api/values/quantity.ts';
import { bytes } from '../../../api/values/sizes.ts';
import type { KubeObject } from '../../../kube/port.ts';
import { ETCD_CONTAINER } from '../../../objects/containers.ts';
import type { ManifestObject } from '../../../objects/manifest.ts';
import { memberPod } from '../../../objects/pod.ts';
import { onMember } from '../../cluster/leader.ts';
import { memoryOf } from '../../observe/container-exit.ts';
import { clusterFacts } from '../../observe/observe.ts';
import { podFacts } from '../../observe/pod-facts.ts';
import { finalFailure } from '../../runtime/failures.ts';
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
  await tryMemory(deps, ref, { cluster, pod, next });
}

/**
 * A memory limit that is lowered below what the member needs as it runs now is not given to it: the kernel would end it again and again (issue L5).
 * One that does not say what it needs is not held up.
 */
async function tryMemory(
  deps: Dependencies,
  { uid }: ClusterRef,
  {
    cluster,
    pod,
    next,
  }: { readonly cluster: EtcdCluster; readonly pod: KubeObject; readonly next: ManifestObject },
): Promise<void> {
  const [before, limit] = [pod, next].map(each => memoryOf(each, ETCD_CONTAINER).limit);
  const most = parseQuantity(limit ?? '');
  const isLower = most !== undefined && most < (parseQuantity(before ?? '') ?? Number.POSITIVE_INFINITY);
  if (!isLower) return;
  const situation = { cluster: clusterFacts(cluster), pods: [podFacts(pod, uid)] };
  const { name } = pod.metadata;
  const needed = await onMember(deps, situation, { member: name, ask: asked => asked.memoryInUse() }).catch(
    (error: unknown) => {
      deps.logger.info('not known how much memory a member needs', { name, error: messageOf(error) });
      return undefined;
    },
  );
  if (needed === undefined || needed <= most) return;
  throw finalFailure(
    'WouldBeRefused',
    `spec.pod.resources.limits.memory is ${limit}, and ${name} has ${bytes(needed)} in use without its database file: the kernel would end it again and again, so nothing was changed. Set the limit to at least twice that, or to ${before ?? 'none'} again`,
  );
}
