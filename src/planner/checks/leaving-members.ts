/**
 * Members with their data in their pods, on nodes that are about to be drained: an eviction takes the data of such a member, so it is replaced
 * before. Until then no budget lets it go, and a drain waits. Pure.
 */
import { once } from '../model/once.ts';
import type { Situation } from '../model/situation.ts';
import { type MemberToReplace, outdatedVolumes } from './outdated-volumes.ts';

/** Whether no member may be evicted: its data would go, and the operator sees in time when it is wanted elsewhere. */
export function isDataInPods({ cluster, pods }: Pick<Situation, 'cluster' | 'pods'>): boolean {
  const inPods = cluster.status.storage?.kind === 'EmptyDir';
  // Where nodes cannot be read nobody would see that a drain waits.
  return inPods && pods.some(({ owned, nodeState }) => owned && nodeState !== undefined);
}

/** Those on such nodes. */
export function membersOnLeavingNodes({ members }: Pick<Situation, 'members'>): readonly MemberToReplace[] {
  const found = members.flatMap((view): MemberToReplace[] => {
    const left = view.pod?.nodeState?.left;
    if (left === undefined || !view.ours || view.isLearner) return [];
    const because = `its data is in its pod, and node ${view.pod?.node} ${left}`;
    return [{ view, because }];
  });
  return found.sort((a, b) => Number(a.view.leads) - Number(b.view.leads));
}

/** All that are replaced although they are well and nobody named them, in the order in which they go. */
export const membersToReplace = once((situation): readonly MemberToReplace[] => [
  ...membersOnLeavingNodes(situation),
  ...outdatedVolumes(situation),
]);
