/** Branches about a living cluster that the simulation does not reach: see gate.ts. */
import { type Exempt, exempt, RACE, TYPES, USERS } from './exempt.ts';

const WAYS =
  'which version leads where is a table: test/planner/operations/upgrade/path.test.ts goes through all of them';
const ANSWERS = 'what an EtcdBackup answers, and when: test/activities/upgrade-backup.test.ts';
const DOMAIN = 'the domain of members is not changed in the simulation: test/planner/domain.test.ts';
const OUTCOMES = 'how an operation ends is a table: test/planner/report/outcome.test.ts';

export const EXEMPT_OF_CLUSTERS: readonly Exempt[] = [
  ...exempt('volumes with the log of an earlier cluster: test/activities/earlier-volumes.test.ts', {
    volumesWereNew: ['not (others.length === 0)', 'expectedClusterId is absent'],
    membersAreOurs: ['beginners.some(…)'],
    seeding: ['foreign !== undefined'],
    otherClusterOf: [
      'not (started || probe?.answered !== true)',
      'not (started || probe?.answered !== true || probe.clusterId === cluster.status.clusterID)',
    ],
    delayOf: ['other !== undefined'],
  }),
  ...exempt('operations that another release of the operator began: test/planner/report/steps.test.ts', {
    stepsOf: ['passed === undefined'],
  }),
  ...exempt('volumes with the log of an earlier cluster: test/planner/operations/create/create.test.ts', {
    identityUnknown: ['membership.known'],
  }),
  ...exempt('what may come between an election and its record: test/activities/formation.test.ts', {
    faultOfFormation: [
      'switched !== undefined',
      'foreign !== undefined',
      'views.length !== planned.length || !planned.every(name => voters.includes(name))',
    ],
  }),
  ...exempt('names that somebody else takes: test/activities/strange-claims.test.ts', {
    removalOf: ['pod === undefined && !started && isNameTaken(situation, learner)'],
    isNameTaken: ['object.name === name'],
  }),
  ...exempt(
    'a learner whose pod goes, and one that no node takes: test/activities/learner-given-up.test.ts',
    {
      fateOf: ['not (isStuck(learner))', 'isAwaited', 'not (isAwaited)'],
      isProgressing: ['isComingUp(learner, pod)'],
      isComingUp: ['pod.trouble === undefined', 'isPending(pod)'],
    },
  ),
  ...exempt(
    'an upgrade whose edit also names another repository: test/activities/upgrade-repository.test.ts',
    {
      formerImage: 'all',
      fromFormerImage: 'all',
      correctedImage: 'all',
      afterCorrection: 'all',
      orRestore: 'all',
      asItRan: 'all',
    },
  ),
  ...exempt('a first member of a restore that never started: test/activities/restore-in-motion.test.ts', {
    isOutdatedUnstarted: 'all',
  }),
  ...exempt('every field of a first manifest that is corrected: test/activities/correction-life.test.ts', {
    isCorrected: 'all',
    correction: 'all',
    hasNeverLived: 'all',
    nothingRuns: 'all',
    begunOtherwise: 'all',
    storageNow: 'all',
    hasOtherTemplate: 'all',
    changesOf: 'all',
    faultOfFormation: ['going !== undefined'],
  }),
  ...exempt(DOMAIN, {
    membersHaveTheirData: ['strangers !== undefined'],
    planRemovedMembers: ['obstacle !== undefined'],
    noForeignMembers: ['not (fault === undefined)', 'renamed !== undefined'],
    otherDomain: ['not (other === undefined)', 'not (other === undefined || other === asked)'],
  }),
  ...exempt(
    'a specification that becomes unusable in a restore: test/planner/operations/restore/growing.test.ts',
    {
      planRestoreCompletion: [
        'not (isWhole)',
        'unusable !== undefined',
        'unusable !== undefined && ready.length === views.length',
      ],
    },
  ),
  ...exempt(
    'a pod between two starts is seen by chance, and every case of it is a row: test/planner/report/members.test.ts',
    {
      isBetweenStarts: [
        'not (since === undefined || pod === undefined)',
        'not (since === undefined || pod === undefined || probe !== undefined)',
        '!pod.ready',
        '!pod.ready && !pod.deleting',
      ],
    },
  ),
  ...exempt('what may be the matter with the claim: test/planner/operations/restore/beginning.test.ts', {
    lackOfVolume: ['claim?.deleting === true'],
  }),
  ...exempt('what chance reaches rarely: test/planner/operations/repair/repair.test.ts', {
    planMembershipOrCause: [
      "not (cause?.kind !== 'blocked')",
      "not (cause?.kind !== 'blocked' || !NEEDS_USER.includes(cause.reason))",
    ],
  }),
  ...exempt('the ways out are a table: test/activities/upgrade-life.test.ts', {
    wayOut: ['not (podChanges(situation, first).asked.length > 0)', 'not (from === to)'],
  }),
  ...exempt('an issuer of all namespaces: test/activities/cert-manager-life.test.ts', {
    tlsCondition: ['shared !== undefined'],
    sharedIssuer: ["not (issuer?.kind !== 'ClusterIssuer')"],
  }),
  ...exempt('certificates with a fault beside members that are well: test/planner/checks/next-look.test.ts', {
    isSettled: [
      'tls?.certificates.some(({ notAfter, faults }) => notAfter === undefined || faults.length > 0) === true',
    ],
  }),
  ...exempt('clocks that differ: test/activities/tls-life.test.ts', {
    planCertificates: ['doubt !== undefined && !isFormed', 'doubt !== undefined'],
    planHeldCertificates: ['doubt !== undefined'],
    clocksDiffer: ['not (clockAheadMs === undefined)', 'not (clockAheadMs > 0)'],
  }),
  ...exempt(
    'disks that are mounted late, after a long outage: test/planner/operations/membership/long-outage.test.ts',
    {
      mountLeftMs: ['not (pod === undefined || !saysEmpty(view))'],
      lostSince: ['cluster.status.members?.details?.find(…)'],
    },
  ),
  ...exempt('a resource that is gone: test/planner/plan.test.ts', { plan: ['observation === undefined'] }),
  ...exempt(TYPES, {
    lossTime: ['view === undefined'],
    unequal: ['not (fact?.ok === true)'],
    leavingMembers: ['surplus <= 0'],
    planMoveLeader: ['steps.length === 0'],
    missingPods: ['token === undefined'],
    deleteCluster: ['() => false'],
    upgradeCluster: ['goal is absent'],
    isReached: ['rowOf(type)?.isReached(findings.situation, operation, isDone(findings, type)) is absent'],
    messageOf: ["not (decision.kind === 'blocked')"],
    claimOf: ['not (home.exists)'],
    underWay: ["decision.kind !== 'operate'"],
    freshGoal: ['versions.find(({ server }) => server !== to)?.server is absent'],
    canGoBack: ['isAtLeast(from, to) || !isHeldBack(observation, to)'],
    afterFailure: ['failed.version is absent'],
  }),
  ...exempt(
    'words about what passes by itself: test/activities/planned-changes.test.ts, test/planner/report',
    {
      isArriving: ['pod?.readyChangedAt is absent'],
      isBrought: ["step.kind === 'createMember'"],
      upgrading: ["not (decision.kind === 'operate')", "goal.reason === 'ClusterVersionBehind'", 'passes'],
      OBJECT_STEPS: ['claims.length === 0'],
    },
  ),
  ...exempt('a person asks in the grace of a lost member, by chance: test/activities/requests-life.test.ts', {
    planReplacement: ['isAsked'],
  }),
  ...exempt(
    'a failure that is remembered without its step, by chance: test/planner/checks/failed-steps.test.ts',
    {
      stopOf: ['failed.step is absent'],
    },
  ),
  ...exempt('what is refused again and again: test/planner/checks/failed-steps.test.ts', {
    isSkipped: 'all',
    isNonBlockingFailure: 'all',
    hasFailed: 'all',
    firstDecision: ["wanted.kind === 'operate'"],
    withWorkflowState: ['failed', 'failed && isNonBlockingFailure({ failed })'],
    planMembership: [
      "not (decision.kind !== 'operate' || !isSkipped(situation.actor, decision))",
      "not (decision.kind !== 'operate')",
    ],
  }),
  ...exempt('what resource and status remember together: test/planner/model/membership-memory.test.ts', {
    awaitsSuccessor: 'all',
    replacementsAfter: 'all',
    replacedLately: 'all',
    replacedNote: 'all',
  }),
  ...exempt('nobody replaces the whole resource: test/activities/resource-stamps.test.ts', {
    planResourceStamps: 'all',
    stampsLacking: 'all',
  }),
  ...exempt('a budget that is refused: test/planner/checks/failed-steps.test.ts', {
    planRepair: ['isFailing'],
  }),
  ...exempt(
    'who is removed by somebody else, and volumes of the past: test/planner/checks/false-evidence.test.ts',
    {
      unexplainedLoss: 'all',
      planRemovedMembers: ['not (waiting.length < views.length)', 'unexplained'],
      waitMs: [
        'ready',
        'not (ready)',
        'readyChangedAt is absent',
        'not (left.pods.length === 0 || isByOperator(cluster.status.replacements, left))',
      ],
      isByOperator: [
        "replacements: Situation['cluster']['status']['replacements'] is absent",
        'replacements.some(…)',
        'not (claims.some(wasNotNeeded))',
      ],
      retentionOf: [
        'claims.some(({ keptUntil }) => keptUntil !== undefined)',
        'not (claims.every(wasNotNeeded) && !wasDead)',
      ],
    },
  ),
  ...exempt('a node whose clock is ahead: test/planner/checks/gates.test.ts', {
    leaderSince: ['since === undefined || since > now', 'not (since === undefined)'],
    readySince: [
      'not (changedAt <= now)',
      'cluster.status.conditions?.find(…)',
      "type === 'Healthy'",
      'pod?.readyChangedAt is absent',
      'pod?.readyChangedAt ?? pod?.createdAt is absent',
      'parseTimestamp(healthy?.lastTransitionTime) is absent',
    ],
    clockAhead: [
      'not (pod === undefined || aheadMs <= 0)',
      'not (pod === undefined)',
      'pod?.readyChangedAt is absent',
    ],
  }),
  ...exempt('what those that would stay say: test/planner/model/membership-memory.test.ts', {
    'preflight/faultOf': 'all',
    faultOf: ['not (probe.read.ok)', 'probe.read.ok', 'probe === undefined', 'not (probe === undefined)'],
    quorumSurvivesRemoval: ['faults.map(…)'],
  }),
  ...exempt('a specification that cannot be carried out: test/planner/model/membership-memory.test.ts', {
    planScale: ['leaving === undefined', 'isByPlan'],
    triedLately: ['since > now'],
  }),
  ...exempt('a restore while a request is under way: test/planner/model/membership-memory.test.ts', {
    aboutVoter: ['restoreUnderWay(cluster) !== undefined'],
  }),
  ...exempt(
    'test/activities/resource-stamps.test.ts and test/planner/checks/false-evidence.test.ts read them',
    {
      labelSummary: ['not (taken.length === 0)', 'not (put.length === 0)', 'put.length === 0'],
    },
  ),
  ...exempt('a removal that was begun and not carried out: test/planner/checks/false-evidence.test.ts', {
    lacking: ['claim.removal !== undefined'],
  }),
  ...exempt('a replacement that has ended: test/planner/model/membership-memory.test.ts', {
    findOperation: ['not (awaitsSuccessor(replacement))', 'learner !== undefined'],
  }),
  ...exempt('two quorums of one cluster: test/planner/checks/false-evidence.test.ts', {
    unlistedVoters: ['not (unlisted.length === 0)'],
  }),
  ...exempt('every volume is found empty at once: test/planner/checks/false-evidence.test.ts', {
    lossOfClaim: ['runs'],
    mountLeftMs: ['not (pod === undefined)', 'pod.readyChangedAt is absent'],
    lostSince: ['after const detail = cluster.status.members?.details?.find(each => each.name === name);'],
    graceLeftMs: ['not (!isExchanged && view.claim?.home?.exists !== false)'],
  }),
  ...exempt(
    'pods from which somebody took everything, when nothing else is left: test/planner/operations/create/create.test.ts',
    { planIdentity: ['situation.pods.filter(…)'] },
  ),
  ...exempt('a status that is lost before the members are sealed: test/activities/seal-life.test.ts', {
    sealingSteps: ['not (membership.known || clientService.exists)'],
  }),
  ...exempt(
    'pods that lost their stamps, and with them all that identifies them: test/planner/model/identity.test.ts',
    {
      podsUnidentified: 'all',
      planIdentity: ['nameless.length > 0', 'nameless.map(…)'],
      sealingSteps: ['members.map(…)'],
    },
  ),
  ...exempt(
    'a claim of another cluster under the name of a learner: test/planner/operations/membership/membership.test.ts',
    {
      removalOf: ['pod === undefined && isClaimOfAnother(situation, learner)'],
      isClaimOfAnother: ['claim.name === name', 'claim.name === name && claim.token !== undefined'],
    },
  ),
  ...exempt(OUTCOMES, {
    isRolledOut: ['firstObstacle(situation, [specificationIsUsable, securityIsUnchanged]) !== undefined'],
    goalOf: ["decision.kind !== 'operate'"],
    abortedBy: ["decision.kind === 'blocked' && decision.reason === 'Aborted'", 'isUnasked'],
    heldUpBy: ['membership.known'],
    'outcome/isHeldUp': ['isUnfinished !== undefined'],
    upgradeCluster: ["({ goal }) => goal.kind === 'go'"],
    takenBack: ['!membership.known'],
  }),
  ...exempt(
    'another version than those of the upgrade, seen right before a member is touched: test/planner/operations/rollout/rollout.test.ts',
    { mixed: ['not (asPlanned)'] },
  ),
  ...exempt('a member in a pod that was evicted: test/planner/checks/evidence.test.ts', {
    lossOfPod: ['hasEnded(view.pod)'],
  }),
  ...exempt(RACE, {
    planReplacement: ['dead.sort(…)'],
    lastVersion: ['not (version === undefined || version === currentVersion)'],
    claimsInQuestion: ['!membership.known'],
    nextMemberMayGo: ['!membership.known'],
    membersMissing: ['view.name === name'],
    claimOf: ['claim.deleting'],
    failedMember: [
      '!pod.owned || pod.deleting || isNoFaultOfTheVersion(pod)',
      '!names.includes(pod.name) || isYoung(situation, pod)',
    ],
    latchedGoal: ['members.length === 0'],
    continueUpgrade: ['replacementIsDue(situation)', 'coming.deleting'],
    planUpgrade: ['first === undefined'],
    lastGate: ['!situation.members.every(view => runs(view, to))', 'obstacle === undefined'],
  }),
  ...exempt(
    'a Service that is somebody else’s, in an upgrade: test/planner/operations/upgrade/continuation.test.ts',
    {
      continueUpgrade: ['firstObstacle(situation, [namesAreFree, membersAreOurs]) !== undefined'],
    },
  ),
  ...exempt('a claim that is exchanged and waited for: test/activities/exchanged-claim.test.ts', {
    graceOver: ['isExchanged'],
  }),
  ...exempt(
    'all operators and fields of an affinity are a table: test/planner/checks/node-affinity.test.ts',
    {
      homeOf: 'all',
      'node-affinity/matches': 'all',
      isReadable: 'all',
      isReadableExpression: 'all',
      isReadableField: 'all',
      'node-affinity/holds': 'all',
      hostsOf: 'all',
      textOf: 'all',
    },
  ),
  ...exempt('a status that is lost while a restore is under way: test/planner/model/identity.test.ts', {
    planIdentityCompletion: ['found?.token !== incarnation.token'],
  }),
  ...exempt('a pod on a claim without its owner: test/activities/pod-labels.test.ts', {
    podNamesAreFree: ["not (status.storage?.kind === 'EmptyDir')"],
  }),
  ...exempt('the obstacle is one of repair, which says it: test/planner/operations/repair/repair.test.ts', {
    planSealing: ['situation.cluster.status.clusterID === undefined'],
  }),
  ...exempt(USERS, {
    denialOf: ["'denied' in failure", "'denied' in failure && failure.denied === true"],
    accessDenied: [
      'not (denial === undefined)',
      'cluster.config.TLS === undefined',
      'not (cluster.config.TLS === undefined)',
    ],
    unavailable: ['denied !== undefined', 'denied !== undefined && !isQuorumImpossible(situation, members)'],
    quorumAtRisk: ['denied !== undefined', 'denied !== undefined && !isQuorumImpossible(situation, members)'],
    healthyMembers: ['denied !== undefined'],
    heldUp: ['accessDenied(situation) !== undefined'],
    healthByRead: ['not (denialOf(probe) === undefined)'],
  }),
  ...exempt('pods of earlier releases and another quota: test/planner/operations/rollout/rollout.test.ts', {
    quotaIsRaised: ['probe?.answered === true', 'fits'],
  }),
  ...exempt('pods of earlier releases that may not start empty: test/planner/checks/pod-changes.test.ts', {
    outdatedPods: ['not (mayStartEmpty)'],
  }),
  ...exempt('claims of earlier releases: test/activities/exchanged-claim.test.ts', {
    lacking: ['claim.stampedUid !== claim.uid'],
  }),
  ...exempt(
    'proof and approvals for each kind of pod that does not end: test/activities/stuck-pods.test.ts',
    {
      isProvedGone: 'all',
      whyStuck: 'all',
      cureOf: 'all',
      planStuckPods: [
        'not (stuck.length === 0)',
        'gone.length > 0',
        'stuck.some(({ finalizers = [] }) => finalizers.length > 0)',
        "not ('obstacle' in answer)",
      ],
      OBJECT_STEPS: ['({ pods, because }) => `force the deletion of ${namesOf(pods)}: ${because}`'],
    },
  ),
  ...exempt('Secrets whose names are taken: test/planner/checks/failed-steps.test.ts', {
    planCertificates: ['isFormed'],
    planHeldCertificates: [
      'not (step === undefined)',
      'step !== undefined',
      'step !== undefined && taken !== undefined',
    ],
  }),
  ...exempt('another issuer of cert-manager: test/activities/cert-manager-life.test.ts', {
    nextRequest: ['otherIssuer(situation).length > 0'],
    otherIssuer: ['not (changed.length === 0)', 'not (changed.length === 0 || !membersRun(situation))'],
    tlsCondition: ['other !== undefined'],
  }),
  ...exempt('certificates that name members: test/activities/tls-next-names.test.ts', {
    tlsCondition: ['next', 'otherFault !== undefined'],
  }),
  ...exempt('a table: test/planner/checks/authorities.test.ts', {
    untrustedByMembers: 'all',
    authorityChanges: 'all',
    authoritiesToBring: 'all',
    mayBeIssued: 'all',
    exchangedAuthorities: 'all',
    membersRun: 'all',
    running: 'all',
    thoseWithout: 'all',
    certificateOf: 'all',
    bundleOf: 'all',
    certificateCoversNextMember: 'all',
    certificateCoversMembersFrom: 'all',
    certificateCoversEach: 'all',
  }),
  ...exempt(
    'an edited Service, or a pass that may not repair, while nothing else is to be done, by chance: test/activities/repaired-in-pass.test.ts',
    {
      repairInPass: [
        'mayRepair === undefined',
        "step.kind === 'applyObjects'",
        "step.kind === 'applyObjects' && mayRepair === 'all'",
      ],
    },
  ),
  ...exempt('a class of storage that comes too late: test/planner/report/conditions.test.ts', {
    durable: ['isAsked'],
  }),
  ...exempt(ANSWERS, {
    backUpFirst: ["answer.kind === 'good'", '!isOpen', "snapshotBefore === 'Required'"],
    noteOnBackup: ['not (placeOf(situation) === undefined)'],
    placeOf: ['backups .filter(({ deleting }) => deleting !== true) .toSorted(…)'],
    answerOf: [
      'now - askedAt >= patienceMs + FRESH_MS',
      '!isRecent(completedAt, now)',
      'not (now - askedAt <= patienceMs)',
      'isSince(newest?.time, askedAt, now)',
      "outcome === 'Succeeded'",
    ],
    missing: ['latestBackup(backups) is there', 'not (newest === undefined)', 'not (backups.length === 0)'],
  }),
  ...exempt('another target in the middle: test/activities/upgrade-life.test.ts', {
    latchedGoal: ['not (sameMinor)', 'not (sameMinor || canGoBack(observation, latch))'],
    memberVersions: ['server === undefined'],
  }),
  ...exempt('another target while no quorum answers: longer runs reach it by chance', {}),
  ...exempt(
    'a failure after the point of no return, or with data in the pod: test/activities/upgrade-interrupted.long.test.ts, upgrade-life.test.ts',
    {
      afterFailure: [
        '!canGoBack(situation, goal) || failed.version === from',
        'not (failed.version === from)',
        'wouldLoseData(situation, failed, { from: to, to: from })',
      ],
    },
  ),
  ...exempt('no memory is counted in the simulation: test/planner/report/out-of-memory.test.ts', {
    outOfMemory: ['not (killed.length === 0)'],
    wasKilled: ['lastExit?.reason === KILLED', 'lastExit?.reason === KILLED && lastExit.at !== undefined'],
    wordsOf: 'all',
    healthOf: ['isRunningOutOfMemory(pod)'],
    pendingComplaint: ["phase === 'Pending'", "phase === 'Pending' && node !== undefined"],
  }),
  ...exempt(
    'a container beside etcd that is not ready at the very moment: test/planner/operations/rollout/rollout.test.ts, longer runs reach it by chance',
    {
      unready: ['not (because === undefined)'],
      haltedBy: ['not (notReadyBecause === undefined)'],
    },
  ),
  ...exempt(WAYS, {
    insteadOf: ['gate !== undefined', 'not (FLAGS_RENAMED.includes(plain))'],
    upgradePath: ['odd !== undefined || from === undefined'],
    pathFrom: ['hops === undefined'],
    offer: ['offered.size === 0'],
    hopsBetween: ['departure === undefined'],
    needsIntermediate: ['not (departure !== undefined && leaves)'],
    authObstacle: [
      'departure.notWithAuth',
      'not (!departure.notWithAuth || authEnabled === false)',
      'not (authEnabled === true)',
    ],
    mixedPath: ['not (choices.length > 0)'],
    isOneStep: ['here === there'],
  }),
];
