import { bySerial } from '../../api/names.ts';
import type { Observation, PodFacts } from './observation.ts';

/**
 * The names of the cluster's members: as a quorum lists them now, else as they were last observed, else as they were
 * bootstrapped; in the order of their serials. Members that were added and never started have no name and are left out.
 */
export function memberNames(observation: Observation): string[] {
  return namesKnown(observation).sort(bySerial);
}

function namesKnown({ membership, cluster }: Observation): string[] {
  if (membership.known) return membership.members.map(member => member.name).filter(name => name !== '');
  const observed = cluster.status.members?.details?.map(member => member.name) ?? [];
  const { members = [], rebuilt = false } = cluster.status.incarnation ?? {};
  const recorded = members.map(member => member.name);
  if (rebuilt) return [...new Set([...observed, ...recorded])];
  return observed.length > 0 ? observed : recorded;
}

/** Whether the member of this name has a ready pod that nobody is ending. */
export function isReady({ pods }: Pick<Observation, 'pods'>, name: string): boolean {
  return pods.some(pod => pod.owned && pod.name === name && pod.ready && !pod.deleting);
}

/** Whether no container of the pod runs, and none is going to: Kubernetes' phases are final (Pod Lifecycle, "Pod phase"). */
export function hasEnded({ phase }: Pick<PodFacts, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** A kubelet that still has not ended a pod this long after its grace is over does not answer. */
const TERMINATION_OVERDUE_MS = 30_000;

/** Its grace is over and its node says nothing: its etcd may continue for as long as it likes. */
export function isTerminationOverdue(
  { deleting, goneBy }: Pick<PodFacts, 'deleting' | 'goneBy'>,
  now: number,
): boolean {
  return deleting && goneBy !== undefined && now - goneBy > TERMINATION_OVERDUE_MS;
}

/** For this long a pod that was created again is waited for by who made it; later its member is one that needs repair. */
const START_PATIENCE_MS = 300_000;

/** Whether the pod of a member that was started again may still become ready by itself. */
export function isComing({ now }: Pick<Observation, 'now'>, pod: PodFacts): boolean {
  return pod.trouble === undefined && !pod.deleting && now - pod.createdAt < START_PATIENCE_MS;
}
