/** Guards of what proves that a member is lost, taken away: see mutations.ts. */
import { findObjects } from '../../src/activities/observe/cluster-objects.ts';
import { isGoing, isPodGone } from '../../src/planner/checks/evidence.ts';
import { claimUidMismatch } from '../../src/planner/checks/exchanged-claims.ts';
import { homeOf } from '../../src/planner/checks/node-affinity.ts';
import { isStampedOtherwise } from '../../src/planner/model/identity.ts';
import { planPodLabels } from '../../src/planner/operations/repair/pod-labels.ts';
import { planResourceStamps } from '../../src/planner/operations/stamps/resource.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';
import { ANY_CLAIM } from './mutations-of-members.ts';

export const DEATH_MUTATIONS: readonly Mutation[] = [
  without(
    'a volume whose Node has other labels by now counts as lost',
    'nodeIsRelabelled',
    instead(homeOf, original => place => {
      const home = original(place);
      return home?.exists === undefined ? { node: place.usedOn.join(), exists: false } : home;
    }),
  ),
  without(
    'a pod that lists do not show counts as gone, and its data with it',
    'podWithoutLabelsThatHoldsTheData',
    instead(findObjects, original => (kube, kind, of) => original(kube, kind, { ...of, names: [] })),
  ),
  without(
    'a pod that is not ours counts as none, and the data in it as gone',
    'podWithoutOwnerThatHoldsTheData',
    returns(isPodGone, true),
  ),
  without(
    'labels that were taken off a pod are not put back',
    'podWithoutLabels',
    returns(planPodLabels, undefined),
  ),
  without(
    'members are started on claims that are not the ones they had',
    'claimsAreExchangedForOlderOnes',
    ANY_CLAIM,
  ),
  without(
    'what a claim notes of itself is not looked at',
    'claimsAreExchangedAndTheStatusIsLost',
    instead(
      claimUidMismatch,
      original => (observation, claim) => original(observation, { ...claim, stampedUid: undefined }),
    ),
  ),
  without(
    'a claim that says it is of another cluster starts its member',
    'claimIsStampedOtherwise',
    returns(isStampedOtherwise, false),
  ),
  without(
    'a member whose claim is being deleted is waited for without end',
    'memberIsEvictedWhileItsClaimGoes',
    returns(isGoing, false),
  ),
  without(
    'a finalizer that was dropped stays away',
    'resourceIsReplacedByAManifest',
    returns(planResourceStamps, undefined),
  ),
];
