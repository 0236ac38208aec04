/** Whether a member's pod is ready, and what keeps it from being so. Pure translation. */
import { type ContainerStatus, ETCD_CONTAINER, statusNamed } from '../../objects/containers.ts';
import type { PodFacts } from '../../planner/model/observation.ts';
import type { PodStatus } from './pod-trouble.ts';

/**
 * The phase of the pod as far as etcd is concerned. A pod one of whose containers was never started, such as a proxy whose image cannot
 * be pulled, is Pending also while etcd runs.
 */
export function phaseOf(status: PodStatus): string {
  const { phase = 'Unknown' } = status;
  const runs = statusNamed(status, ETCD_CONTAINER)?.state?.running !== undefined;
  return phase === 'Pending' && runs ? 'Running' : phase;
}

/**
 * A kubelet reports a container that it has started for a new image up to a second later, when the member has long answered: until
 * then what it says is about the container before, and the new one is not ready yet.
 */
export function readiness(
  status: PodStatus,
  replaced: string | undefined,
): Pick<PodFacts, 'ready' | 'statusStale' | 'notReadyBecause'> {
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  const etcd = statusNamed(status, ETCD_CONTAINER);
  if (condition?.status === 'True') {
    return { ready: replaced === undefined || etcd?.containerID !== replaced };
  }
  const others = othersNotReady(status);
  if (etcd?.ready !== true) return { ready: false };
  if (others.length > 0) return { ready: false, notReadyBecause: others.map(complaintOf).join(', ') };
  // Somebody besides the kubelet has to agree (Kubernetes, "Pod readiness").
  if (condition?.reason === 'ReadinessGatesNotReady')
    return { ready: false, notReadyBecause: condition.message ?? 'a readiness gate is not met' };
  return { ready: false, statusStale: true };
}

/** Containers that somebody put beside etcd and for whose sake the pod is not ready: those that stay, init containers among them. */
function othersNotReady({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): ContainerStatus[] {
  const staying = initContainerStatuses.filter(({ state }) => state?.terminated?.exitCode !== 0);
  return [...staying, ...containerStatuses].filter(
    ({ name, ready }) => name !== ETCD_CONTAINER && ready === false,
  );
}

function complaintOf({ name, state }: ContainerStatus): string {
  const reason = state?.waiting?.reason ?? state?.terminated?.reason;
  return `container ${name} is not ready${reason === undefined ? '' : ` (${reason})`}`;
}
