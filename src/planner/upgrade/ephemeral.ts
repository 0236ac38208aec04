/** Members that keep their data in their pods: an upgrade must not give them new ones. */
import type { Obstacle } from '../checks.ts';
import type { Observation, PodFacts } from '../observation.ts';
import { changesBesidesImage } from '../rendering.ts';
import { usableClaim } from '../repair.ts';
import type { Goal } from './goal.ts';
import { isUnsettled } from './pods.ts';

/** Whether the member would have to get a new pod, and has no volume to start again on. */
export function wouldLoseData(
  observation: Observation,
  pod: PodFacts,
  { from, to }: Pick<Goal, 'from' | 'to'>,
): boolean {
  if (usableClaim(observation, pod.name) !== undefined) return false;
  return changesBesidesImage(observation, pod, to).length > 0 || isUnsettled(pod, from, to);
}

/** A pod that holds its member's only data may be given another image, and never be deleted. */
export function ephemeral(
  observation: Observation,
  goal: Goal,
  waiting: readonly PodFacts[],
): Obstacle | undefined {
  const lost = waiting.filter(pod => wouldLoseData(observation, pod, goal));
  if (lost.length === 0) return undefined;
  const names = lost.map(pod => pod.name).join(', ');
  return {
    reason: 'EphemeralMembers',
    message: `${goal.to} needs other pods than ${goal.from} (${changesBesidesImage(observation, lost[0] as PodFacts, goal.to)[0] ?? 'each member is to be started once more'}), and ${names} has no volume to start again on; make a new cluster with volumes and restore a backup into it, or set spec.version to ${goal.from} again`,
  };
}
