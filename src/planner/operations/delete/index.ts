/**
 * Deletion: pods first, and seen gone; then claims, as `storage.retain` says; then the resource may go. Services and
 * the budget go with their owner.
 */
import type { OperationRow } from '../../model/operation.ts';
import { type Decision, operate, type Step } from '../../model/decision.ts';
import type { Observation } from '../../model/observation.ts';
import { identify } from '../../model/steps/row.ts';
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
  return operate('deleteCluster', [{ kind: 'deletePods', pods: identify(ending) }, ...rest]);
}

function claimSteps({ cluster, claims }: Observation): Step[] {
  if (cluster.config.storage.retain === 'Retain') return [];
  const owned = claims.filter(claim => claim.owned && !claim.deleting && claim.keptByRestore !== true);
  return owned.length === 0 ? [] : [{ kind: 'releaseClaims', claims: identify(owned) }];
}

export const deleteCluster: OperationRow = {
  progress: 'Deleting',
  why: 'the EtcdCluster is being deleted',
  // The resource is gone then, and nobody writes its status.
  isReached: () => false,
};
