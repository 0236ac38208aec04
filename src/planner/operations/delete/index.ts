/**
 * Deletion: pods first, and seen gone; then claims, as `storage.retain` says; then the resource may go. Services and
 * the budget go with their owner. With `--cascade=orphan` nothing is stopped and nothing deleted: everything is let go
 * (docs/operations/delete.md).
 */
import type { OperationRow } from '../../model/operation.ts';
import { asClosing, type Decision, operate, type SharedObject, type Step } from '../../model/decision.ts';
import { claimsOf, isOrphaned, podsOf } from '../../model/left-behind.ts';
import { leftNote } from '../../model/left-note.ts';
import type { ObjectFacts, Observation, PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { identify } from '../../model/steps/row.ts';
import { planStuckPods, podsToEnd } from '../../checks/stuck-pods.ts';

/** What deletion does next; undefined when the resource is not being deleted. */
export function planDeletion(situation: Situation): Decision | undefined {
  const { cluster } = situation;
  if (!cluster.deleting) return undefined;
  // Without our finalizer the resource is held by somebody else's: nothing of ours is left to do.
  if (!cluster.hasFinalizer) return { kind: 'gone' };
  if (isOrphaned(situation)) return letGo(orphaning(situation));
  const before = claimSteps(situation);
  const rest: Step[] = [...before, { kind: 'removeFinalizer' }];
  const { ending } = podsToEnd(situation);
  // Who hangs is dealt with when the others are gone.
  if (ending.length === 0) return planStuckPods(situation, 'deleteCluster', rest) ?? letGo(before);
  return operate('deleteCluster', [{ kind: 'deletePods', pods: identify(ending) }, ...rest]);
}

/**
 * These steps, and then the resource may go. That alone takes nothing from anybody, so no pause holds it: where a namespace goes with all
 * that is in it, no EtcdRequest can be created that lifts the pause.
 */
function letGo(before: readonly Step[]): Decision {
  const work = operate('deleteCluster', [...before, { kind: 'removeFinalizer' }]);
  return before.length === 0 ? asClosing(work) : work;
}

function claimSteps(observation: Observation): Step[] {
  const { cluster, claims } = observation;
  if (cluster.config.storage.retain === 'Retain') return leaving(observation, { pods: [], objects: [] });
  const owned = claims.filter(claim => claim.owned && !claim.deleting && claim.keptByRestore !== true);
  return owned.length === 0 ? [] : [{ kind: 'releaseClaims', claims: identify(owned) }];
}

/** Everything stays, and names this cluster as its owner no more: without an owner it would be collected as garbage. */
function orphaning(observation: Observation): Step[] {
  const { peerService, clientService, disruptionBudget } = observation;
  const objects = (
    Object.entries({ peerService, clientService, disruptionBudget }) as [SharedObject, ObjectFacts][]
  )
    .filter(([, { owned }]) => owned)
    .map(([object]) => object);
  return leaving(observation, { pods: podsOf(observation), objects });
}

/** What stays says whose it was; nothing when all of it is let go and says it already. */
function leaving(
  observation: Observation,
  { pods, objects }: { readonly pods: readonly PodFacts[]; readonly objects: readonly SharedObject[] },
): Step[] {
  const note = leftNote(observation.cluster);
  const claims = note === undefined ? [] : claimsOf(observation);
  const isDone =
    objects.length === 0 &&
    pods.every(({ owned, leftBy }) => !owned && leftBy === note) &&
    claims.every(({ leftBy }) => leftBy === note);
  if (isDone) return [];
  return [{ kind: 'leaveObjects', pods: identify(pods), claims: identify(claims), objects, note }];
}

export const deleteCluster: OperationRow = {
  // It says more clearly than spec.paused what the owner of the resource wants.
  ignoresPause: true,
  // The resource is gone then, and nobody writes its status.
  isReached: () => false,
};
