/** Guards of membership, repair and rollouts that are taken away: see mutations.ts. */
import { at, type Mutation, without } from './mutation.ts';

const PREFLIGHT = 'planner/checks/preflight.ts';
const CAUGHT_UP = 'planner/checks/caught-up.ts';
/** The last look before a promotion: it stands behind the others. */
const STILL_FOLLOWS = at(
  'activities/steps/promote-learner.ts',
  'await stillFollows(deps, ref, { observation, step })',
  'true',
);

export const GENERAL_MUTATIONS: readonly Mutation[] = [
  // Who does not answer names no leader: the second check stands behind the first.
  without(
    'members are added while a voter is away',
    'grownWhileOneIsAway',
    at(PREFLIGHT, 'unwell.length > 0', 'false'),
    at(PREFLIGHT, 'leaders.size === 1 && !leaders.has(undefined)', 'true'),
  ),
  without(
    'members are added while a voter raises an alarm',
    'grownWhileOneRaisesAnAlarm',
    at(PREFLIGHT, 'unwell.length > 0', 'false'),
  ),
  without(
    'a member is removed though the rest is no quorum',
    'forgottenNodeStillVotes',
    at(PREFLIGHT, 'rest.length > 0 && healthy >= quorum(rest.length)', 'true'),
  ),
  without(
    'one of two members is stopped before it is removed',
    'shrunkToOne',
    at('planner/operations/membership/stop-first.ts', 'voters < FEWEST_VOTERS', 'false'),
  ),
  without(
    'members that people added are treated as ours',
    'strangerIsAdded',
    at(PREFLIGHT, 'foreign.length === 0', 'true'),
  ),
  without(
    'a claim that only lacks its labels counts as gone',
    'claimWithoutLabelsAndStamps',
    at('planner/checks/evidence.ts', 'isThere || runs', 'runs'),
  ),
  without(
    'any trouble of a pod counts as an empty volume',
    'imageCannotBePulled',
    at(
      'planner/checks/evidence.ts',
      "pod.firstStart === 'sealed' ? EMPTY_ALONE.test(message) : started && EMPTY_AMONG_PEERS.test(message)",
      'started',
    ),
  ),
  without(
    'a member whose node is gone is not waited for',
    'nodeIsGoneForAWhile',
    at('planner/operations/membership/replace.ts', 'left === 0', 'true'),
  ),
  without(
    'a learner is promoted however far behind it is',
    'learnerIsFarBehind',
    at(CAUGHT_UP, 'head - BigInt(learner.raftAppliedIndex) <= allowed', 'true'),
    STILL_FOLLOWS,
  ),
  without(
    'a learner is promoted that does not follow the leader',
    'learnerNamesAFormerLeader',
    at(CAUGHT_UP, 'leader === undefined || learner.leaderId !== leader.memberId', 'leader === undefined'),
    STILL_FOLLOWS,
  ),
  without('a learner is promoted that is cut off and lacks nothing', 'learnerIsCutOff', STILL_FOLLOWS),
  without(
    'names are chosen above those that are there, not above those that were',
    'sizeGoesUpAndDownAndUp',
    at('planner/model/member-view.ts', 'Math.max(lastSerialOf(cluster), ...serials)', 'Math.max(...serials)'),
  ),
  without(
    'pods and claims of members are cleared away',
    'nothingHappens',
    at(
      'planner/operations/membership/removed-members.ts',
      '!seats.some(seat => seat.name === object.name)',
      'true',
    ),
  ),
  without(
    'a member whose claim is being deleted is left alone',
    'claimIsDeletedUnderItsMember',
    at('planner/operations/membership/asked.ts', "claim.deleting || claim.phase === 'Lost'", 'false'),
  ),
  without(
    'a learner that lost its volume is started again on it',
    'learnerLosesItsVolume',
    at('planner/operations/membership/learner.ts', 'pod === undefined && lost !== undefined', 'false'),
  ),
  without(
    'a volume that goes away counts as one that keeps the data',
    'sleepIsWantedWhileAClaimGoes',
    at('planner/operations/repair/index.ts', 'claim === undefined || !isThere(claim)', '!claim'),
  ),
  without(
    'voters are not sealed',
    'podIsToldToBootstrap',
    at('planner/operations/stamps/seal.ts', 'members.length === 0', 'true'),
  ),
  without(
    'a cluster of which nothing is left is taken for one that never was',
    'nothingIsLeftOfIt',
    at(
      'planner/operations/create/index.ts',
      'rebuilt !== undefined',
      'rebuilt?.incarnation.members.length > 0',
    ),
  ),
  without(
    'a rollout goes on whatever state the members are in',
    'rolloutWhileOneIsAway',
    at('planner/checks/gates.ts', 'passes()', 'undefined'),
  ),
  without(
    'a member without volume is stopped for the night',
    'sleepIsWantedWhileAClaimGoes',
    at('planner/operations/hibernate/index.ts', 'lost.length > 0', 'false'),
  ),
  without(
    'members of another cluster are taken for ours',
    'volumeOfAnotherCluster',
    at('planner/checks/obstacles.ts', 'probe.answered && probe.clusterId !== recorded', 'false'),
  ),
  without(
    'a step is performed though the world has moved on',
    'removalIsOvertaken',
    at(
      'activities/steps/still-planned.ts',
      "decision?.kind !== 'operate' || !isDeepStrictEqual(plain(decision.step), plain(step))",
      'false',
    ),
  ),
  without(
    'members bootstrap after the cluster id is recorded',
    'bootstrapComesLate',
    at('activities/steps/bootstrap-members.ts', 'clusterID !== undefined', 'false'),
  ),
  without(
    'a member that is no learner, or has started, is created once more',
    'creationComesLate',
    at(
      'activities/steps/create-member.ts',
      'seat?.id !== step.id || !seat.isLearner || seat.started',
      'seat === undefined',
    ),
  ),
  without(
    'the name of a new member is not stamped on the resource',
    'sizeGoesUpAgainWithoutStatus',
    at('activities/steps/add-learner.ts', 'serialOf(step.member) ?? -1', '0'),
  ),
  without(
    'a pod is stopped without a look at the gates',
    'stopIsOvertaken',
    at('activities/steps/stop-member.ts', 'await stillPlanned(deps, ref, step)', 'undefined'),
  ),
  without(
    'a claim that was stamped again after the status was lost is not remembered',
    'stampsComeBackAfterTheStatusWasLost',
    at('planner/operations/stamps/rediscovery.ts', 'more.length === 0', 'true'),
  ),
  without(
    'claims that lost their stamps with the status count as none',
    'everyClaimLosesItsStampsWithTheStatus',
    at('planner/model/identity.ts', 'members.some(member => member.name === name)', 'false'),
  ),
  without(
    'a cluster id that only a quorum told is not stamped on the resource',
    'statusIsLostBeforeAndAfterTheQuorum',
    at('activities/steps/record-incarnation.ts', 'clusterId !== undefined', 'false'),
    at('planner/operations/stamps/resource.ts', 'lacking.length === 0', 'true'),
  ),
  without(
    'a member is restarted though the members hold different keys',
    'membersHoldDifferentKeys',
    at('planner/checks/gates.ts', 'new Set(group.map(({ hash }) => hash)).size > 1', 'false'),
  ),
  without(
    'members are replaced as often as they are lost',
    'replacementsAreSpent',
    at('planner/operations/membership/replace.ts', 'lately.length < maxReplacementsPerHour', 'true'),
  ),
  without(
    'a member that nothing is proved of is removed without asking anybody',
    'replacementOfTheUnproved',
    at('planner/operations/membership/replace.ts', "'obstacle' in answer", 'false'),
  ),
  without(
    'a member is added whose certificates are bad',
    'certificatesAreBad',
    at('planner/operations/membership/scale.ts', 'certificatesAreGood(observation)', 'undefined'),
  ),
  without(
    'members are restarted although those that go on would not trust what they show',
    'authorityIsExchanged',
    at(
      'planner/operations/certificates/index.ts',
      '[...complaints, ...exchanged(observation)]',
      'complaints',
    ),
  ),
  without(
    'certificates are signed with an authority that members do not trust',
    'certificatesAreMade',
    at(
      'planner/operations/certificates/authorities.ts',
      'thoseWithout(observation, authority.role, authority.fingerprints).length',
      '0',
    ),
  ),
  without(
    'a learner that had data is started again on another volume',
    'learnerLosesItsPodAndAllThatWasInIt',
    at(
      'planner/operations/membership/learner.ts',
      'pod === undefined ? hasLostData(observation, learner) : saysEmpty(learner)',
      'false',
    ),
  ),
  without(
    'a member whose kubelet does not answer is waited for without end',
    'stopDoesNotCome',
    at('planner/model/member-names.ts', 'now - goneBy > HANGS_MS', 'false'),
  ),
  without(
    'claims are looked for by label alone',
    'claimWithoutLabels',
    at('activities/observe/observe.ts', '[...(hasClaims ? recordedNames(cluster) : []), ...names]', '[]'),
  ),
];
