/** Guards of membership, repair and rollouts that are taken away: see mutations.ts. */
import { findObjects } from '../../src/activities/observe/cluster-objects.ts';
import { stampIdentity } from '../../src/activities/resource/etcd-cluster.ts';
import { assertMayBootstrap } from '../../src/activities/steps/bootstrap-members.ts';
import { isNewLearner } from '../../src/activities/steps/create-member.ts';
import { writeThrough } from '../../src/activities/steps/disarm-no-space.ts';
import { stillFollows } from '../../src/activities/steps/promote-learner.ts';
import { assertMayBeRecorded } from '../../src/activities/steps/record-incarnation.ts';
import { plannedIn } from '../../src/activities/steps/shared/still-planned.ts';
import { claimStays } from '../../src/activities/steps/stop-member.ts';
import { CLAIM } from '../../src/activities/runtime/kinds.ts';
import { mayBeIssued } from '../../src/planner/checks/authorities.ts';
import { hasCaughtUp } from '../../src/planner/checks/caught-up.ts';
import { authorityComplaints, certificatesAreGood } from '../../src/planner/checks/certificates.ts';
import { consentTo } from '../../src/planner/checks/consent.ts';
import { lossOfClaim, saysEmpty } from '../../src/planner/checks/evidence.ts';
import { hasRoom } from '../../src/planner/checks/space.ts';
import { newVolumesFit, volumeFault } from '../../src/planner/checks/outdated-volumes.ts';
import { compactDifferently, nextMemberMayGo, unequal, versionsOf } from '../../src/planner/checks/gates.ts';
import { lastVersion, membersWithoutPod, usableClaim } from '../../src/planner/checks/missing-pods.ts';
import { membersAreOurs } from '../../src/planner/checks/obstacles.ts';
import { madeByOtherOperator } from '../../src/planner/checks/other-operator.ts';
import {
  everyVoterServes,
  noForeignMembers,
  quorumSurvivesRemoval,
} from '../../src/planner/checks/preflight.ts';
import { lastSerialOf, rebuiltIdentity, rebuiltStorage } from '../../src/planner/model/identity.ts';
import { alarmsOf } from '../../src/planner/model/alarms.ts';
import { isTerminationOverdue } from '../../src/planner/model/member-names.ts';
import { planIdentity } from '../../src/planner/operations/create/index.ts';
import {
  planDefragmentation,
  planHeldDefragmentation,
  waitsForRoom,
} from '../../src/planner/operations/defragment/index.ts';
import { heldBack } from '../../src/planner/operations/defragment/interrupted.ts';
import { inTheWay } from '../../src/planner/operations/hibernate/index.ts';
import { planCorruptMember } from '../../src/planner/operations/membership/corrupt.ts';
import { isProgressing } from '../../src/planner/operations/membership/learner-progress.ts';
import { hasLostData, volumeLossOf } from '../../src/planner/operations/membership/learner.ts';
import { willLoseVolume } from '../../src/planner/operations/membership/departing.ts';
import { leftOf } from '../../src/planner/operations/membership/removed-members.ts';
import { graceOver, tooManyThisHour } from '../../src/planner/operations/membership/replace.ts';
import { stoppable } from '../../src/planner/operations/membership/stop-first.ts';
import { isWithdrawnOnly } from '../../src/planner/operations/repair/client-routing.ts';
import { takenDown, takingBack } from '../../src/planner/operations/repair/closing.ts';
import { firstForSpace, quotaIsRaised } from '../../src/planner/operations/rollout/index.ts';
import { transferLeadership } from '../../src/planner/operations/rollout/next-member.ts';
import { planIdentityCompletion } from '../../src/planner/operations/stamps/identity-completion.ts';
import { planLostDomain } from '../../src/planner/operations/stamps/lost-domain.ts';
import { planResourceStamps } from '../../src/planner/operations/stamps/resource.ts';
import { planSealing } from '../../src/planner/operations/stamps/seal.ts';
import { situationOf } from '../../src/planner/situation.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

/** The last look before a promotion: it stands behind the others. */
const STILL_FOLLOWS = returns(stillFollows, true);
/** Whatever claim has the name of a member is used for it. */
export const ANY_CLAIM = instead(
  usableClaim,
  () =>
    ({ claims }, member) =>
      claims.find(({ name, owned }) => name === member && owned),
);
/** A claim that is being deleted stays for the member that is stopped. */
const GOING_CLAIM_STAYS = instead(claimStays, original => async (deps, { namespace, ...ref }, step) => {
  const claim = await deps.kube.get({ ...CLAIM, namespace, name: step.member });
  return claim ?? original(deps, { namespace, ...ref }, step);
});
/** Consent is never required. */
const EVERYTHING_IS_APPROVED = instead(consentTo, () => (_, consent) => ({
  approval: { ...consent, id: 0, by: '', expiresAt: Number.MAX_SAFE_INTEGER },
}));
/** A step is performed whatever is planned by now. */
const WHATEVER_IS_PLANNED = instead(
  plannedIn,
  original => (seen, step) =>
    seen === undefined
      ? original(seen, step)
      : { cluster: seen.cluster, situation: situationOf(seen.observation, step.plannedUpon) },
);
/** A cluster begins whatever is written on its resource. */
export const NOTHING_IS_STAMPED = instead(planIdentity, original => situation => {
  const { cluster } = situation;
  const metadata = { ...cluster.object.metadata, annotations: {} };
  return original({ ...situation, cluster: { ...cluster, object: { ...cluster.object, metadata } } });
});
const RECORDED_WHATEVER_IS_STAMPED = instead(
  assertMayBeRecorded,
  original => (step, now) => original(step, { ...now, stampedId: undefined }),
);

export const GENERAL_MUTATIONS: readonly Mutation[] = [
  without(
    'a pause leaves a member down that the operator stopped',
    'pausedAtEveryStepOfARolloutOfOne',
    returns(takenDown, []),
  ),
  without(
    'a pause leaves members asleep when others are awake',
    'pausedInTheMiddleOfWaking',
    instead(takenDown, original => situation => {
      const { cluster } = situation;
      const status = { ...cluster.status, operation: { ...cluster.status.operation, type: '' } };
      return original({ ...situation, cluster: { ...cluster, status } });
    }),
  ),
  without(
    'a pause leaves clients away from a member that serves',
    'pausedAtEveryStepOfAnUpgrade',
    returns(isWithdrawnOnly, false),
  ),
  without(
    'a pause leaves a member with a version that does not start',
    'pausedWithAVersionThatDoesNotStart',
    returns(takingBack, []),
  ),
  without(
    'a pause starts what a person has taken away',
    'memberIsTakenDuringAPause',
    instead(takenDown, () => membersWithoutPod),
  ),
  without(
    'members are added while a voter is away',
    'grownWhileOneIsAway',
    returns(everyVoterServes, undefined),
  ),
  without(
    'members are added while a voter raises an alarm',
    'grownWhileOneRaisesAnAlarm',
    returns(everyVoterServes, undefined),
  ),
  without(
    'a member is removed though the rest is no quorum',
    'forgottenNodeStillVotes',
    returns(quorumSurvivesRemoval, undefined),
  ),
  without(
    'one of two members is stopped before it is removed',
    'shrunkToOne',
    instead(stoppable, original => (situation, _, view) => original(situation, Infinity, view)),
  ),
  without(
    'members that users added are treated as ours',
    'strangerIsAdded',
    returns(noForeignMembers, undefined),
  ),
  without(
    'a claim that only lacks its labels counts as gone',
    'claimWithoutLabelsAndStamps',
    instead(lossOfClaim, original => (observation, view) => original({ ...observation, claims: [] }, view)),
  ),
  without(
    'any trouble of a pod counts as an empty volume',
    'imageCannotBePulled',
    instead(
      saysEmpty,
      () =>
        ({ pod, started }) =>
          started && pod?.trouble !== undefined,
    ),
  ),
  without(
    'a member whose node is gone is not waited for',
    'nodeIsGoneForAWhile',
    returns(graceOver, undefined),
  ),
  without(
    'a learner that receives the database has as much time as one that does nothing',
    'learnerReceivesForLong',
    instead(
      isProgressing,
      original =>
        (situation, ...member) =>
          original({ ...situation, receiving: [] }, ...member),
    ),
  ),
  without(
    'a learner is promoted however far behind it is',
    'learnerIsFarBehind',
    instead(hasCaughtUp, original => (situation, member) => {
      const { probes, leader } = situation;
      const probe = probes[member];
      if (probe?.answered !== true || leader === undefined) return original(situation, member);
      const level = { ...probe, raftAppliedIndex: leader.probe.raftIndex };
      return original({ leader, probes: { ...probes, [member]: level } }, member);
    }),
    STILL_FOLLOWS,
  ),
  without(
    'a learner is promoted that does not follow the leader',
    'learnerNamesAFormerLeader',
    instead(hasCaughtUp, original => (situation, member) => {
      const { probes, leader } = situation;
      const probe = probes[member];
      if (probe?.answered !== true || leader === undefined) return original(situation, member);
      const follower = { ...probe, leaderId: leader.probe.memberId };
      return original({ leader, probes: { ...probes, [member]: follower } }, member);
    }),
    STILL_FOLLOWS,
  ),
  without('a learner is promoted that is cut off and lacks nothing', 'learnerIsCutOff', STILL_FOLLOWS),
  without(
    'names are chosen above those that are there, not above those that were',
    'sizeGoesUpAndDownAndUp',
    returns(lastSerialOf, -1),
  ),
  without(
    'pods and claims of members are cleared away',
    'nothingHappens',
    instead(leftOf, original => situation => original(situation, [])),
  ),
  without(
    'a member whose claim is being deleted is left alone',
    'claimIsDeletedUnderItsMember',
    returns(willLoseVolume, false),
  ),
  without(
    'a learner that lost its volume is started again on it',
    'learnerLosesItsVolume',
    returns(volumeLossOf, undefined),
  ),
  without(
    'a volume that goes away counts as one that keeps the data',
    'sleepIsWantedWhileAClaimGoes',
    ANY_CLAIM,
    GOING_CLAIM_STAYS,
  ),
  without(
    'members are replaced for a StorageClass that does not exist',
    'storageClassChanges',
    returns(newVolumesFit, undefined),
  ),
  without('voters are not sealed', 'podIsToldToBootstrap', returns(planSealing, undefined)),
  without(
    'a cluster of which nothing is left is taken for one that never was',
    'nothingIsLeftOfIt',
    instead(rebuiltIdentity, original => observation => {
      const rebuilt = original(observation);
      return rebuilt?.incarnation.members.length === 0 ? undefined : rebuilt;
    }),
    // It takes what is left for that of another operator.
    returns(madeByOtherOperator, undefined),
    RECORDED_WHATEVER_IS_STAMPED,
  ),
  without(
    'a rollout goes on whatever state the members are in',
    'rolloutWhileOneIsAway',
    returns(nextMemberMayGo, undefined),
  ),
  without(
    'a member without volume is stopped for the night',
    'sleepIsWantedWhileAClaimGoes',
    returns(inTheWay, undefined),
    GOING_CLAIM_STAYS,
  ),
  without(
    'members of another cluster are taken for ours',
    'volumeOfAnotherCluster',
    returns(membersAreOurs, undefined),
  ),
  without('a step is performed though the world has moved on', 'removalIsOvertaken', WHATEVER_IS_PLANNED),
  without(
    'members bootstrap after the cluster id is recorded',
    'bootstrapComesLate',
    returns(assertMayBootstrap, undefined),
  ),
  without(
    'an empty cluster is recorded in place of one that is lost',
    'recordingComesLate',
    RECORDED_WHATEVER_IS_STAMPED,
  ),
  without(
    'a member that is no learner, or has started, is created once more',
    'creationComesLate',
    returns(isNewLearner, true),
  ),
  without(
    'the name of a new member is not stamped on the resource',
    'sizeGoesUpAgainWithoutStatus',
    instead(
      stampIdentity,
      original => (kube, cluster, identity) => original(kube, cluster, { ...identity, lastSerial: 0 }),
    ),
  ),
  without(
    'a pod is stopped without a look at the gates',
    'stopIsOvertaken',
    WHATEVER_IS_PLANNED,
    GOING_CLAIM_STAYS,
  ),
  without(
    'a claim that was stamped again after the status was lost is not remembered',
    'stampsComeBackAfterTheStatusWasLost',
    returns(planIdentityCompletion, undefined),
  ),
  without(
    'claims that lost their stamps with the status count as none',
    'everyClaimLosesItsStampsWithTheStatus',
    instead(rebuiltStorage, original => (observation, incarnation) => {
      const claims = observation.claims.filter(({ token }) => token === incarnation.token);
      return original({ ...observation, claims }, incarnation);
    }),
  ),
  without(
    'a cluster id that only a quorum reported is not stamped on the resource',
    'statusIsLostBeforeAndAfterTheQuorum',
    instead(stampIdentity, () => (_, cluster) => Promise.resolve(cluster)),
    returns(planResourceStamps, undefined),
  ),
  without(
    'a member is restarted though the members hold different keys',
    'membersHoldDifferentKeys',
    returns(unequal, []),
    returns(planCorruptMember, undefined),
  ),
  without(
    'members are replaced as often as they are lost',
    'replacementsAreSpent',
    returns(tooManyThisHour, undefined),
  ),
  without(
    'a member that nothing is proved of is removed without asking anybody',
    'replacementOfTheUnproved',
    EVERYTHING_IS_APPROVED,
  ),
  without(
    'a member is added whose certificates are bad',
    'certificatesAreBad',
    returns(certificatesAreGood, undefined),
  ),
  without(
    'members are restarted although those that go on would not trust what they show',
    'authorityIsExchanged',
    returns(authorityComplaints, []),
  ),
  without(
    'certificates are signed with an authority that members do not trust',
    'certificatesAreMade',
    returns(mayBeIssued, true),
  ),
  without(
    'a learner that had data is started again on another volume',
    'learnerLosesItsPodAndAllThatWasInIt',
    returns(hasLostData, false),
    returns(saysEmpty, false),
  ),
  without(
    'a member whose kubelet does not answer is waited for without end',
    'stopDoesNotCome',
    returns(isTerminationOverdue, false),
  ),
  without(
    'a lost status is recorded in a domain that the members are not in',
    'domainIsForgotten',
    returns(planLostDomain, undefined),
  ),
  without(
    'a member is defragmented while another is away',
    'membersAreDefragmented',
    returns(nextMemberMayGo, undefined),
  ),
  without(
    'a member that ends over its defragmentation is defragmented again at once',
    'defragmentationEndsItsMember',
    returns(heldBack, undefined),
  ),
  without(
    'a volume that others made larger is taken for one that is larger than was asked for',
    'smallerVolumesAreMadeLarger',
    instead(
      volumeFault,
      original => (cluster, claim) => original(cluster, { ...claim, requestedSize: undefined }),
    ),
  ),
  without(
    'the leader is defragmented before it has handed over',
    'membersAreDefragmented',
    returns(transferLeadership, []),
  ),
  without(
    'NOSPACE is disarmed while a member has no room',
    'noSpaceWhileOneHasNoRoom',
    returns(hasRoom, true),
  ),
  without(
    'NOSPACE is disarmed while CORRUPT stands',
    'noSpaceWhileOneHasNoRoom',
    instead(alarmsOf, original => probes => original(probes).filter(({ alarm }) => alarm !== 'CORRUPT')),
  ),
  without('history is compacted that nobody has approved of', 'databasesAreFull', EVERYTHING_IS_APPROVED),
  without(
    'what else is edited keeps a raised quota from the members while etcd has no space',
    'somethingElseIsEditedWhileAQuotaIsRaised',
    instead(firstForSpace, () => (_, members) => members),
  ),
  without(
    'a member is restarted while etcd has no space, though it gets no larger quota',
    'somethingElseIsEditedWhileAQuotaIsRaised',
    returns(quotaIsRaised, true),
  ),
  without(
    'no room is made in the middle of an upgrade',
    'databasesAreFullInTheMiddleOfAnUpgrade',
    returns(versionsOf, []),
  ),
  without(
    'a larger quota takes a member back to the version before the upgrade',
    'databasesAreFullInTheMiddleOfAnUpgrade',
    returns(lastVersion, {}),
  ),
  without(
    'history is compacted that members of two releases would hash otherwise',
    'historyFillsADatabaseOfTwoReleases',
    returns(compactDifferently, false),
  ),
  without(
    'a defragmentation that waits for a member keeps it from being mended',
    'memberIsBrokenWhileFilesAreNearlyFull',
    instead(
      planDefragmentation,
      original => situation => original(situation) ?? planHeldDefragmentation(situation),
    ),
  ),
  without(
    'a rollout that waits for room in a file keeps the file from being defragmented',
    'memberIsBrokenWhileFilesAreNearlyFull',
    returns(waitsForRoom, false),
  ),
  without(
    'no write is tried after NOSPACE was disarmed',
    'databasesAreFull',
    returns(writeThrough, undefined),
  ),
  without(
    'claims are looked for by label alone',
    'claimWithoutLabels',
    instead(
      findObjects,
      original => (kube, kind, of) => original(kube, kind, kind === CLAIM ? { ...of, names: [] } : of),
    ),
  ),
];
