/** Branches about what users and other programs do to a cluster, which the simulation does not reach: see gate.ts. */
import { type Exempt, exempt } from './exempt.ts';

export const EXEMPT_OF_USERS: readonly Exempt[] = [
  ...exempt(
    'why a database is full, and what is advised, is a table: test/planner/operations/space.test.ts',
    {
      filling: ['!ours', 'quota === undefined'],
      quotaOf: ['not (before !== undefined)', 'not (isOther)'],
      isRaised: ["status.storage?.kind !== 'PersistentVolumeClaim'"],
      fullOf: ['history?.ok !== true', 'not (isEnough)'],
      compactionOf: ["mode === 'off'", "not (mode === 'periodic')"],
      quotaAdvice: ["storage?.kind !== 'PersistentVolumeClaim'"],
      volumeFor: ['has === undefined', 'has >= needed'],
      quantity: ['not (size % GIB === 0)'],
    },
  ),
  ...exempt('an operator that dies between the alarm and the write: test/activities/space-life.test.ts', {
    MEMBER_STEPS: ['alarms.length === 0'],
    planSpace: ['not (untried(situation).length === 0)'],
    approvedRevision: ['history?.ok !== true'],
  }),
  ...exempt('a volume that is full: test/planner/report/members.test.ts', {
    fullVolume: [
      'said',
      'not (!said || pod?.ready === true)',
      'claim?.capacity === undefined',
      'not (claim?.capacity === undefined)',
    ],
  }),
  ...exempt('when members are due is a table: test/planner/operations/defragment.test.ts', {
    whyDue: ['free < rule.freeBytes'],
    roundAt: ['not (round !== undefined && now - round < ROUND_MS && isOpen(rule, now))'],
    isOpen: ['not (window === undefined)'],
    roundsOf: ['schedule === undefined'],
    defragmentMembers: [
      '!meant.every(canBe) || meant.length === 0',
      'restoreUnderWay(situation.cluster) !== undefined',
    ],
  }),
  ...exempt('what tools read of a resource is a table: test/api/derived/readiness.test.ts', {
    readinessOf: 'all',
  }),
  ...exempt('what is closed before a pause begins: test/planner/operations/repair/closing.test.ts', {
    isWithdrawnOnly: ["not (step.kind === 'admitMembers')"],
    closingSteps: ['firstObstacle(situation, unsafe) !== undefined'],
    takingBack: ["not (decision.kind === 'operate')"],
    admitting: ['stopOf(first, situation) !== undefined'],
    firstDecision: ['not (!isStopped || !isSkipped(situation.actor, wanted))'],
    stopOf: ['failed?.operation === operation', 'isItself'],
    abortOf: ['not (aborted.generation === cluster.generation)'],
  }),
  ...exempt('which backup counts is a table: test/planner/model/backups-of-cluster.test.ts', {
    inOrder: ['not (keyOf(a) < keyOf(b))'],
    foreignOnly: 'all',
    lastRunOf: 'all',
    faultOf: ['isOverdue(backup, now)'],
  }),
  ...exempt('what the client Service has behind it is a table: test/planner/report/conditions.test.ts', {
    withoutEndpoint: [
      'not (difference === undefined)',
      'not (ready.length === 1)',
      'ready.some(hasLabels)',
      'leadsTo?.includes(pod.name) is absent',
    ],
    nameAndCause: ['not (notReadyBecause === undefined)'],
  }),
  ...exempt('a step of a restore that is refused: test/planner/operations/restore/growing.test.ts', {
    stepFailed: ['not (back === undefined)'],
    restoreCluster: ['not (under === undefined)', 'not (under === undefined || isOpened(situation))'],
  }),
  ...exempt('authorities for a cluster that sleeps or wakes: test/activities/tls-authorities.test.ts', {
    isWaking: ['spec.hibernated === true || status?.incarnation === undefined'],
  }),
  ...exempt(
    'a corrected creation and upgrade: test/activities/correction-life.test.ts, upgrade-repository.test.ts',
    {
      CREATION_STEPS: ['not (namesOf(pods))'],
      faultOfFormation: ['cluster.config.paused', 'owned && deleting', 'unborn'],
      startAgain: ['image !== undefined'],
    },
  ),
  ...exempt(
    'how a deleted cluster is distinguished from an orphaned one: test/planner/operations/delete/delete.test.ts',
    {
      isOrphaned: ['!cluster.deleting'],
      asked: ['going.length > 0'],
      otherAddresses: ['not (url === undefined)'],
      stampAgain: ['not (!isTokenOfName(cluster.name, token) || ownsToken(cluster, token))'],
    },
  ),
  ...exempt('what a deleted cluster has left is a table: test/planner/operations/take-up.test.ts', {
    formerIncarnations: [
      'isRestoreCutShort',
      'not (Number(clusterIdsOf(b).length > 0) - Number(clusterIdsOf(a).length > 0) || b.newest - a.newest)',
    ],
    doubtsAbout: ['ids.length === 0'],
    lackingVoters: ['not (hasClaims)'],
    otherAddresses: [
      'note?.security !== undefined && note.security !== asked.security',
      "not (domain === '')",
    ],
    describe: ['claims.length === 0', 'ids.length === 0'],
    asked: ["not (former.map(each => each.token).join(', '))"],
    readLeftNote: ["not (typeof note === 'object' && note !== null)", 'catch'],
  }),
  ...exempt('a cluster that is deleted before it has a status: test/activities/deletion-life.test.ts', {
    leftNote: ['incarnation === undefined', 'not (voters.length > 0)'],
    leaving: ['note === undefined'],
  }),
  ...exempt('a take-up that is cut short between two writes: test/activities/deletion-life.test.ts', {
    takenUpPrefix: ['not (foreign === undefined)'],
    planTakeUp: ['stamp !== undefined'],
    stampAgain: [
      'not (!isTokenOfName(cluster.name, token) || ownsToken(cluster, token) || clusterId === undefined)',
    ],
    continued: [
      'pod.unowned === true',
      'pod.unowned === true && !pod.deleting',
      'not (token === undefined || (left.length === 0 && sharedLeft(observation).length === 0))',
    ],
  }),
];
