/** Guards of what proves that a member is lost, taken away: see mutations.ts. */
import { at, type Mutation, without } from './mutation.ts';

export const DEATH_MUTATIONS: readonly Mutation[] = [
  without(
    'a volume whose Node has other labels by now counts as lost',
    'nodeIsRelabelled',
    at('homeOf', 'there.length > 0', 'false'),
  ),
  without(
    'a pod that lists do not show counts as gone, and its data with it',
    'podWithoutLabelsThatHoldsTheData',
    at('findObjects', '[...new Set(names)]', '[]'),
  ),
  without(
    'a pod that is not ours counts as none, and the data in it as gone',
    'podWithoutOwnerThatHoldsTheData',
    at('isPodGone', '!pods.some(pod => pod.name === name)', 'true'),
  ),
  without(
    'labels that were taken off a pod are not put back',
    'podWithoutLabels',
    at('planPodLabels', 'owned && !deleting && labels !== undefined', 'false'),
  ),
  without(
    'members are started on claims that are not the ones they had',
    'claimsAreExchangedForOlderOnes',
    at('usableClaim', 'claimUidMismatch(situation, claim) !== undefined', 'false'),
  ),
  without(
    'what a claim notes of itself is not looked at',
    'claimsAreExchangedAndTheStatusIsLost',
    at('claimUidMismatch', '[claim.stampedUid, recorded]', '[recorded]'),
  ),
  without(
    'a claim that says it is of another cluster starts its member',
    'claimIsStampedOtherwise',
    at('isStampedOtherwise', 'token !== status.incarnation?.token || isOther', 'false'),
  ),
  without(
    'a member whose claim is being deleted is waited for without end',
    'memberIsEvictedWhileItsClaimGoes',
    at('lossOfClaim', 'isGoing(view.claim, pod)', 'false'),
  ),
  without(
    'a finalizer that was dropped stays away',
    'resourceIsReplacedByAManifest',
    at('planResourceStamps', 'lacking.length === 0', 'true'),
  ),
];
