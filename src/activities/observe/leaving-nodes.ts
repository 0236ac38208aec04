/** The nodes of members that keep their data in their pods: an eviction would take the data, so it is seen before it comes. */
import { whyLeft } from '../../api/derived/leaving-node.ts';
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { KindRef, KubeClient } from '../../kube/port.ts';
import type { PodFacts } from '../../planner/model/observation.ts';

const NODE: KindRef = { apiVersion: 'v1', kind: 'Node' };

/** The pods, each with what its node says; without that where members have volumes, or nodes may not be read. */
export async function withLeavingNodes(
  kube: KubeClient,
  pods: readonly PodFacts[],
  { storage }: EtcdClusterStatus,
): Promise<readonly PodFacts[]> {
  if (storage?.kind !== 'EmptyDir') return pods;
  const names = [...new Set(pods.flatMap(({ owned, node }) => (owned && node !== undefined ? [node] : [])))];
  const states = new Map(
    await Promise.all(names.map(async name => [name, await stateOf(kube, name)] as const)),
  );
  return pods.map(pod => {
    const nodeState = pod.owned && pod.node !== undefined ? states.get(pod.node) : undefined;
    return nodeState === undefined ? pod : { ...pod, nodeState };
  });
}

async function stateOf(kube: KubeClient, name: string): Promise<PodFacts['nodeState']> {
  try {
    const node = await kube.get({ ...NODE, name });
    if (node === undefined) return undefined;
    const left = whyLeft(node);
    return left === undefined ? {} : { left };
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
