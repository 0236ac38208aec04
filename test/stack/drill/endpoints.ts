/** Where the members of a cluster in a stack are reached from this machine, which does not route to Services. */
import { CLIENTS_ADMITTED, LABEL_CLIENTS } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { podsOf, type World } from '../e2e.ts';

interface PodStatus {
  readonly podIP?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** `host:port` of the pods that the client Service would lead to now: the ready ones. */
export async function readyEndpoints(world: World, namespace: string, name: string): Promise<string[]> {
  return (await podsOf(world, namespace, name)).filter(isServing).map(endpointOf);
}

/** Ready, selected, and not on its way out. */
export function isServing(pod: KubeObject): boolean {
  const { podIP, conditions } = (pod['status'] ?? {}) as PodStatus;
  const ready = conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  const { labels, deletionTimestamp } = pod.metadata;
  const isSelected = labels?.[LABEL_CLIENTS] === CLIENTS_ADMITTED;
  return ready && isSelected && podIP !== undefined && deletionTimestamp === undefined;
}

function endpointOf(pod: KubeObject): string {
  return `${((pod['status'] ?? {}) as PodStatus).podIP}:2379`;
}
