/** Guards of what proves that a member is lost, taken away: see mutations.ts. */
import { at, type Mutation, without } from './mutation.ts';

export const DEATH_MUTATIONS: readonly Mutation[] = [
  without(
    'a volume whose Node has other labels by now counts as lost',
    'nodeIsRelabelled',
    at('planner/checks/node-affinity.ts', 'there.length > 0', 'false'),
  ),
  without(
    'a pod that lists do not show counts as gone, and its data with it',
    'podWithoutLabelsThatHoldsTheData',
    at('activities/observe/cluster-objects.ts', '[...new Set(names)]', '[]'),
  ),
  without(
    'a pod that is not ours counts as none, and the data in it as gone',
    'podWithoutOwnerThatHoldsTheData',
    at('planner/checks/evidence.ts', '!pods.some(pod => pod.name === name)', 'true'),
  ),
  without(
    'labels that were taken off a pod are not put back',
    'podWithoutLabels',
    at('planner/operations/repair/pod-labels.ts', 'owned && !deleting && labels !== undefined', 'false'),
  ),
  without(
    'members are started on claims that are not the ones they had',
    'claimsAreExchangedForOlderOnes',
    at('planner/operations/repair/index.ts', 'exchangeOf(observation, claim) !== undefined', 'false'),
  ),
  without(
    'what a claim notes of itself is not looked at',
    'claimsAreExchangedAndTheStatusIsLost',
    at('planner/checks/exchanged-claims.ts', '[claim.stampedUid, recorded]', '[recorded]'),
  ),
  without(
    'a claim that says it is of another cluster starts its member',
    'claimIsStampedOtherwise',
    at('planner/model/identity.ts', 'token !== status.incarnation?.token || isOther', 'false'),
  ),
  without(
    'a member whose claim is being deleted is waited for without end',
    'memberIsEvictedWhileItsClaimGoes',
    at('planner/checks/evidence.ts', 'isGoing(seat.claim, pod)', 'false'),
  ),
  without(
    'a finalizer that was dropped stays away',
    'resourceIsReplacedByAManifest',
    at('planner/operations/stamps/resource.ts', 'lacking.length === 0', 'true'),
  ),
];
