/**
 * The containers of a pod, by name. A pod may hold others than those that it was made with, before, between and after them:
 * admission webhooks and policies inject proxies, agents and init containers that stay. No place in a list says whose one is. Pure.
 */

/** The container of etcd in a member's pod. */
export const ETCD_CONTAINER = 'etcd';

/** A container of a pod's specification, as far as it is read. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly args?: readonly string[];
  readonly restartPolicy?: string;
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
}

/** What a kubelet says of a container, as far as it is read. */
export interface ContainerStatus {
  readonly name: string;
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly image?: string;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}
interface ContainerState {
  readonly waiting?: StateReason;
  readonly running?: object;
  readonly terminated?: StateReason;
}
export interface StateReason {
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** A pod, as far as its containers are looked for. */
interface Pod {
  readonly [field: string]: unknown;
}

/** The containers of the pod's specification, those that run to their end before the others not among them. */
export function containersOf(pod: Pod): readonly Container[] {
  return (pod['spec'] as { readonly containers?: readonly Container[] } | undefined)?.containers ?? [];
}

/** The container of this name in the pod's specification, which is no init container. */
export function containerNamed(pod: Pod, name: string): Container | undefined {
  return containersOf(pod).find(container => container.name === name);
}

/** What kubelets write of the containers of a pod. */
export interface ContainerStatuses {
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

/** What the kubelet says of the container of this name, an init container or not; kubelets sort their lists by name. */
export function statusNamed(
  { initContainerStatuses = [], containerStatuses = [] }: ContainerStatuses,
  name: string,
): ContainerStatus | undefined {
  return [...initContainerStatuses, ...containerStatuses].find(status => status.name === name);
}
