/** Members that keep their data in their pods: an upgrade must not give them new ones. */
import type { Obstacle } from '../../model/decision.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { changesBesidesImage, podChanges } from '../../checks/pod-changes.ts';
import { usableClaim } from '../../checks/missing-pods.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { awaitsExtraRestart } from './pods.ts';

/** Whether the member would have to get a new pod, and has no volume to start again on. */
export function wouldLoseData(
  situation: Situation,
  pod: PodFacts,
  { from, to }: Pick<Goal, 'from' | 'to'>,
): boolean {
  if (usableClaim(situation, pod.name) !== undefined) return false;
  return changesBesidesImage(situation, pod, to).length > 0 || awaitsExtraRestart(pod, from, to);
}

/** A pod that holds its member's only data may be given another image, and never be deleted. */
export function ephemeral(
  situation: Situation,
  goal: Goal,
  waiting: readonly PodFacts[],
): Obstacle | undefined {
  const lost = waiting.filter(pod => wouldLoseData(situation, pod, goal));
  const [first] = lost;
  if (first === undefined) return undefined;
  const names = lost.map(pod => pod.name).join(', ');
  const [change] = changesBesidesImage(situation, first, goal.to);
  return {
    reason: 'EphemeralMembers',
    message: `${names} needs a new pod for ${goal.to} (${change ?? 'each member must be restarted once more'}), and has no volume to start on again; create a new cluster with volumes and restore a backup into it, or ${wayOut(situation, goal, first)}`,
  };
}

/** A successor is created as the specification says now, of the version that is left, and learns the data first. */
function wayOut(situation: Situation, { from, to }: Goal, first: PodFacts): string {
  const replaced = `replace ${first.name} (kubectl etcd replace, or the signal replaceMember)`;
  if (podChanges(situation, first).asked.length > 0)
    return `restore the previous value of that setting, or ${replaced}`;
  return from === to ? replaced : `set spec.version to ${from} again`;
}
