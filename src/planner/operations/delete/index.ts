/**
 * Deletion: pods first, and seen gone; then claims, as `storage.retain` says; then the resource may go. Services and
 * the budget go with their owner.
 */
import type { OperationRow } from '../../model/operation.ts';
import { operate } from '../../model/answers.ts';
import type { Decision, Step } from '../../model/decision.ts';
import type { Observation } from '../../model/observation.ts';
import { planStuckPods, podsToEnd } from '../../checks/stuck-pods.ts';

/** What deletion does next; undefined when the resource is not being deleted. */
export function planDeletion(observation: Observation): Decision | undefined {
  const { cluster } = observation;
  if (!cluster.deleting) return undefined;
  // Without our finalizer the resource is held by somebody else's: nothing of ours is left to do.
  if (!cluster.hasFinalizer) return { kind: 'gone' };
  const rest: Step[] = [...claimSteps(observation), { kind: 'removeFinalizer' }];
  const { ending } = podsToEnd(observation);
  // Who hangs is dealt with when the others are gone.
  if (ending.length === 0)
    return planStuckPods(observation, 'deleteCluster', rest) ?? operate('deleteCluster', rest);
  const pods = ending.map(({ name, uid }) => ({ name, uid }));
  return operate('deleteCluster', [{ kind: 'deletePods', pods }, ...rest]);
}

function claimSteps({ cluster, claims }: Observation): Step[] {
  if (cluster.config.storage.retain === 'Retain') return [];
  const owned = claims
    .filter(claim => claim.owned && !claim.deleting && claim.keptByRestore !== true)
    .map(({ name, uid }) => ({ name, uid }));
  return owned.length === 0 ? [] : [{ kind: 'releaseClaims', claims: owned }];
}

export const deleteCluster: OperationRow = {
  progress: 'Deleting',
  // The resource is gone then, and nobody writes its status.
  isReached: () => false,
};
