/** The nodes of pods that should be gone and are not: whether a node is proved gone decides what becomes of its pod. */
import { isForbidden } from '../../kube/errors.ts';
import type { KindRef, KubeClient, KubeObject } from '../../kube/port.ts';
import { isTerminationOverdue } from '../../planner/model/member-names.ts';
import type { PodFacts, PodHost } from '../../planner/model/observation.ts';

const NODE: KindRef = { apiVersion: 'v1', kind: 'Node' };
/** Put on a Node by users, or by what knows that the machine is off (Kubernetes, "Non-graceful node shutdown"). */
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/**
 * The pods, those that stay although they were to be gone long ago, and those whose etcd does not run, with what is known of their nodes:
 * what a kubelet said before its node fell silent is no news.
 */
export function withHosts(kube: KubeClient, pods: readonly PodFacts[], now: number): Promise<PodFacts[]> {
  return Promise.all(
    pods.map(async pod => {
      const matters = isTerminationOverdue(pod, now) || pod.trouble !== undefined;
      if (!pod.owned || pod.node === undefined || !matters) return pod;
      return { ...pod, host: await hostOf(kube, pod.node) };
    }),
  );
}

async function hostOf(kube: KubeClient, name: string): Promise<PodHost> {
  try {
    const node = await kube.get({ ...NODE, name });
    return node === undefined ? { exists: false } : { exists: true, ...stateOf(node) };
  } catch (error) {
    if (isForbidden(error)) return { exists: undefined };
    throw error;
  }
}

function stateOf(node: KubeObject): Pick<PodHost, 'ready' | 'outOfService'> {
  const { taints = [] } = (node['spec'] ?? {}) as { taints?: readonly { readonly key: string }[] };
  const { conditions = [] } = (node['status'] ?? {}) as {
    conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const ready = conditions.find(({ type }) => type === 'Ready')?.status;
  return {
    ...(ready !== undefined && { ready }),
    ...(taints.some(({ key }) => key === OUT_OF_SERVICE) && { outOfService: true }),
  };
}
