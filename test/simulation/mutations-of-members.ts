/** Guards of membership, repair and rollouts that are taken away: see mutations.ts. */
import { at, type Mutation, returns, without } from './mutation.ts';

/** The last look before a promotion: it stands behind the others. */
const STILL_FOLLOWS = returns('stillFollows', 'true');

export const GENERAL_MUTATIONS: readonly Mutation[] = [
  without(
    'a pause leaves a member down that the operator stopped',
    'pausedAtEveryStepOfARolloutOfOne',
    returns('takenDown', '[]'),
  ),
  without(
    'a pause leaves members asleep when others are awake',
    'pausedInTheMiddleOfWaking',
    at('takenDown', "cluster.status.operation?.type === 'wakeCluster'", 'false'),
  ),
  without(
    'a pause leaves clients away from a member that serves',
    'pausedAtEveryStepOfAnUpgrade',
    returns('isWithdrawnOnly', 'false'),
  ),
  without(
    'a pause leaves a member with a version that does not start',
    'pausedWithAVersionThatDoesNotStart',
    returns('takingBack', '[]'),
  ),
  without(
    'a pause starts what a person has taken away',
    'memberIsTakenDuringAPause',
    at('takenDown', 'claim.stopped !== undefined', 'true'),
  ),
  // Who does not answer names no leader: the second check stands behind the first.
  without(
    'members are added while a voter is away',
    'grownWhileOneIsAway',
    at('everyVoterHealthy', 'unwell.length > 0', 'false'),
    at('everyVoterHealthy', 'leaders.size === 1 && !leaders.has(undefined)', 'true'),
  ),
  without(
    'members are added while a voter raises an alarm',
    'grownWhileOneRaisesAnAlarm',
    at('everyVoterHealthy', 'unwell.length > 0', 'false'),
  ),
  without(
    'a member is removed though the rest is no quorum',
    'forgottenNodeStillVotes',
    at('quorumSurvivesRemoval', 'rest.length > 0 && healthy >= quorum(rest.length)', 'true'),
  ),
  without(
    'one of two members is stopped before it is removed',
    'shrunkToOne',
    at('stoppable', 'voters < FEWEST_VOTERS', 'false'),
  ),
  without(
    'members that users added are treated as ours',
    'strangerIsAdded',
    at('noForeignMembers', 'foreign.length === 0', 'true'),
  ),
  without(
    'a claim that only lacks its labels counts as gone',
    'claimWithoutLabelsAndStamps',
    at('lossOfClaim', 'isThere || runs', 'runs'),
  ),
  without(
    'any trouble of a pod counts as an empty volume',
    'imageCannotBePulled',
    at(
      'saysEmpty',
      "pod.firstStart === 'sealed' ? EMPTY_ALONE.test(message) : started && EMPTY_AMONG_PEERS.test(message)",
      'started',
    ),
  ),
  without(
    'a member whose node is gone is not waited for',
    'nodeIsGoneForAWhile',
    at('graceOver', 'left === 0', 'true'),
  ),
  without(
    'a learner that receives the database has as much time as one that does nothing',
    'learnerReceivesForLong',
    at('isProgressing', 'situation.receiving?.includes(learner.name) === true', 'false'),
  ),
  without(
    'a learner is promoted however far behind it is',
    'learnerIsFarBehind',
    at('hasCaughtUp', 'head - BigInt(learner.raftAppliedIndex) <= allowed', 'true'),
    STILL_FOLLOWS,
  ),
  without(
    'a learner is promoted that does not follow the leader',
    'learnerNamesAFormerLeader',
    at(
      'hasCaughtUp',
      'leader === undefined || learner.leaderId !== leader.probe.memberId',
      'leader === undefined',
    ),
    STILL_FOLLOWS,
  ),
  without('a learner is promoted that is cut off and lacks nothing', 'learnerIsCutOff', STILL_FOLLOWS),
  without(
    'names are chosen above those that are there, not above those that were',
    'sizeGoesUpAndDownAndUp',
    at('nextMember', 'lastSerialOf(cluster)', '-1'),
  ),
  without(
    'pods and claims of members are cleared away',
    'nothingHappens',
    at('leftOf', '!views.some(view => view.name === object.name)', 'true'),
  ),
  without(
    'a member whose claim is being deleted is left alone',
    'claimIsDeletedUnderItsMember',
    at('willLoseVolume', '!hasUsableVolume(claim)', 'false'),
  ),
  without(
    'a learner that lost its volume is started again on it',
    'learnerLosesItsVolume',
    at('removalOf', 'pod === undefined && lost !== undefined', 'false'),
  ),
  without(
    'a volume that goes away counts as one that keeps the data',
    'sleepIsWantedWhileAClaimGoes',
    at('usableClaim', 'claim === undefined || !hasUsableVolume(claim)', '!claim'),
    returns('claimStays', 'undefined'),
  ),
  without('voters are not sealed', 'podIsToldToBootstrap', at('planSealing', 'members.length === 0', 'true')),
  without(
    'a cluster of which nothing is left is taken for one that never was',
    'nothingIsLeftOfIt',
    at('planIdentity', 'rebuilt !== undefined', 'rebuilt?.incarnation.members.length > 0'),
    at('assertMayBeRecorded', 'stampedId !== undefined', 'false'),
  ),
  without(
    'a rollout goes on whatever state the members are in',
    'rolloutWhileOneIsAway',
    at('nextMemberMayGo', 'passes()', 'undefined'),
  ),
  without(
    'a member without volume is stopped for the night',
    'sleepIsWantedWhileAClaimGoes',
    at('inTheWay', 'lost.length > 0', 'false'),
    returns('claimStays', 'undefined'),
  ),
  without(
    'members of another cluster are taken for ours',
    'volumeOfAnotherCluster',
    at('membersAreOurs', 'probe.answered && probe.clusterId !== recorded', 'false'),
  ),
  without(
    'a step is performed though the world has moved on',
    'removalIsOvertaken',
    at(
      'plannedIn',
      "decision.kind !== 'operate' || !isDeepStrictEqual(plain(decision.step), plain(step))",
      'false',
    ),
  ),
  without(
    'members bootstrap after the cluster id is recorded',
    'bootstrapComesLate',
    at('bootstrapMembers', 'clusterID !== undefined', 'false'),
  ),
  without(
    'an empty cluster is recorded in place of one that is lost',
    'recordingComesLate',
    at('assertMayBeRecorded', 'stampedId !== undefined', 'false'),
  ),
  without(
    'a member that is no learner, or has started, is created once more',
    'creationComesLate',
    at(
      'createMember',
      'seen === undefined || view?.id !== step.id || !view.isLearner || view.started',
      'seen === undefined || view === undefined',
    ),
  ),
  without(
    'the name of a new member is not stamped on the resource',
    'sizeGoesUpAgainWithoutStatus',
    at('addLearner', 'serialOf(step.member) ?? -1', '0'),
  ),
  without(
    'a pod is stopped without a look at the gates',
    'stopIsOvertaken',
    at(
      'plannedIn',
      "decision.kind !== 'operate' || !isDeepStrictEqual(plain(decision.step), plain(step))",
      'false',
    ),
    returns('claimStays', 'undefined'),
  ),
  without(
    'a claim that was stamped again after the status was lost is not remembered',
    'stampsComeBackAfterTheStatusWasLost',
    at('planIdentityCompletion', 'more.length === 0', 'true'),
  ),
  without(
    'claims that lost their stamps with the status count as none',
    'everyClaimLosesItsStampsWithTheStatus',
    at('rebuiltStorage', 'members.some(member => member.name === name)', 'false'),
  ),
  without(
    'a cluster id that only a quorum reported is not stamped on the resource',
    'statusIsLostBeforeAndAfterTheQuorum',
    at('recordIncarnation', 'clusterId !== undefined', 'false'),
    at('planResourceStamps', 'lacking.length === 0', 'true'),
  ),
  without(
    'a member is restarted though the members hold different keys',
    'membersHoldDifferentKeys',
    at('unequal', 'new Set(group.map(({ hash }) => hash)).size > 1', 'false'),
  ),
  without(
    'members are replaced as often as they are lost',
    'replacementsAreSpent',
    at('tooManyThisHour', 'lately.length < maxReplacementsPerHour', 'true'),
  ),
  without(
    'a member that nothing is proved of is removed without asking anybody',
    'replacementOfTheUnproved',
    at('withConsent', "'obstacle' in answer", 'false'),
  ),
  without(
    'a member is added whose certificates are bad',
    'certificatesAreBad',
    at('planAdd', 'certificatesAreGood(situation)', 'undefined'),
  ),
  without(
    'members are restarted although those that go on would not trust what they show',
    'authorityIsExchanged',
    at('certificatesAreGood', '[...complaints, ...authorityComplaints(situation)]', 'complaints'),
  ),
  without(
    'certificates are signed with an authority that members do not trust',
    'certificatesAreMade',
    at('mayBeIssued', 'thoseWithout(observation, authority.role, authority.fingerprints).length', '0'),
  ),
  without(
    'a learner that had data is started again on another volume',
    'learnerLosesItsPodAndAllThatWasInIt',
    at('removalOf', 'pod === undefined ? hasLostData(situation, learner) : saysEmpty(learner)', 'false'),
  ),
  without(
    'a member whose kubelet does not answer is waited for without end',
    'stopDoesNotCome',
    at('isTerminationOverdue', 'now - goneBy > TERMINATION_OVERDUE_MS', 'false'),
  ),
  without(
    'a lost status is recorded in a domain that the members are not in',
    'domainIsForgotten',
    returns('planLostDomain', 'undefined'),
  ),
  without(
    'a member is defragmented while another is away',
    'membersAreDefragmented',
    at('planDefragmentation', 'nextMemberMayGo(situation, { tolerated: /NOSPACE/ })', 'undefined'),
  ),
  without(
    'the leader is defragmented before it has handed over',
    'membersAreDefragmented',
    at('defragmentations', 'transferLeadership(situation, waiting, name)', '[]'),
  ),
  without(
    'NOSPACE is disarmed while a member has no room',
    'noSpaceWhileOneHasNoRoom',
    at('causeOf', '!hasRoom(member)', 'false'),
  ),
  without(
    'NOSPACE is disarmed while CORRUPT stands',
    'noSpaceWhileOneHasNoRoom',
    at('fillings', "alarm === 'CORRUPT'", 'false'),
  ),
  without(
    'history is compacted that nobody has approved of',
    'databasesAreFull',
    at('whenDecided', "'approval' in answer", 'true'),
  ),
  without(
    'no write is tried after NOSPACE was disarmed',
    'databasesAreFull',
    at('disarmNoSpace', 'step.members', '[]'),
  ),
  without(
    'claims are looked for by label alone',
    'claimWithoutLabels',
    at('ownedObjects', '[...(hasClaims ? recordedNames(cluster) : []), ...names]', '[]'),
  ),
];
