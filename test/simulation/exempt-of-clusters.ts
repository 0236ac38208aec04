/** Branches about a living cluster that the simulation does not reach: see gate.ts. */
import { type Exempt, TYPES, RACE, USERS } from './exempt.ts';

const WAYS =
  'which version leads where is a table: test/planner/operations/upgrade/path.test.ts goes through all of them';
const ANSWERS = 'what an EtcdBackup answers, and when: test/activities/upgrade-backup.test.ts';
const DOMAIN = 'the domain of members is not changed in the simulation: test/planner/domain.test.ts';
const OUTCOMES = 'how an operation ends is a table: test/planner/report/outcome.test.ts';

export const EXEMPT_OF_CLUSTERS: readonly Exempt[] = [
  {
    file: 'checks/obstacles.ts',
    begins: ['const ids =', 'seat =>', '?? id'],
    because: 'volumes with the log of an earlier cluster: test/activities/earlier-volumes.test.ts',
  },
  {
    file: 'operations/create/index.ts',
    begins: ['const { clusterId } = membership'],
    because: 'volumes with the log of an earlier cluster: test/planner/operations/create/create.test.ts',
  },
  {
    file: 'operations/restore/index.ts',
    begins: ['return blocked(foreign'],
    because: 'volumes with the log of an earlier cluster: test/activities/earlier-volumes.test.ts',
  },
  {
    file: 'operations/membership/learner.ts',
    begins: ['|| probe.clusterId ===', 'return probe.clusterId', 'return { reason: `its volume holds'],
    because: 'volumes with the log of an earlier cluster: test/activities/earlier-volumes.test.ts',
  },
  {
    file: 'operations/membership/learner.ts',
    begins: ["return { reason: 'a pod or claim of its name", '&& !object.owned'],
    because: 'names that somebody else takes: test/activities/strange-claims.test.ts',
  },
  {
    file: 'operations/membership/learner.ts',
    begins: ['? cluster.status.learner', ': PATIENCE_MS'],
    because: 'a learner whose pod goes, and one that no node takes: test/activities/learner-given-up.test.ts',
  },
  {
    file: 'operations/repair/index.ts',
    begins: ['return strangers'],
    because: 'the domain of members is not changed in the simulation: test/planner/domain.test.ts',
  },
  {
    file: 'operations/restore/index.ts',
    begins: ['&& ready.length', 'return blocked(unusable'],
    because:
      'a specification that becomes unusable in a restore: test/planner/operations/restore/growing.test.ts',
  },
  {
    file: 'operations/restore/seed.ts',
    begins: ["? 'is being deleted'"],
    because: 'what may be the matter with the claim: test/planner/operations/restore/beginning.test.ts',
  },
  {
    file: 'operations/upgrade/ephemeral.ts',
    begins: ['return from === to', ': `set spec.version'],
    because: 'the ways out are a table: test/activities/upgrade-life.test.ts',
  },
  {
    file: 'operations/certificates/index.ts',
    begins: ["return [finding('TLSReady', 'SharedIssuer'", 'return `ClusterIssuer'],
    because: 'an issuer of all namespaces: test/activities/cert-manager-life.test.ts',
  },
  {
    file: 'operations/certificates/index.ts',
    begins: ['return blocked(doubt)', 'const minutes =', '&& !isFormed', ": 'behind'"],
    because: 'clocks that differ: test/activities/tls-life.test.ts',
  },
  {
    file: 'checks/evidence.ts',
    begins: ['// Machines that were without power', 'const detail =', 'each => each.name === name'],
    because:
      'disks that are mounted late, after a long outage: test/planner/operations/membership/long-outage.test.ts',
  },
  { file: 'report/members.ts', begins: ['return {};'], because: TYPES },
  {
    file: 'checks/failed-steps.ts',
    because: 'what is refused again and again: test/planner/checks/failed-steps.test.ts',
  },
  {
    file: 'operations/membership/replacements.ts',
    because: 'what resource and status remember together: test/planner/model/membership-memory.test.ts',
  },
  {
    file: 'operations/stamps/resource.ts',
    because: 'nobody replaces the whole resource: test/activities/resource-stamps.test.ts',
  },
  {
    file: 'plan.ts',
    begins: [
      'passedOver ??=',
      '&& othersGoOn',
      '&& { failed }',
      '&& isPassedOver',
      "|| decision.kind !== 'blocked'",
    ],
    because: 'what is refused again and again: test/planner/checks/failed-steps.test.ts',
  },
  {
    file: 'operations/membership/index.ts',
    begins: ['passedOver ??=', '|| !isPassedOver'],
    because: 'what is refused again and again: test/planner/checks/failed-steps.test.ts',
  },
  {
    file: 'operations/repair/index.ts',
    begins: ['? [...pods'],
    because: 'a budget that is refused: test/planner/checks/failed-steps.test.ts',
  },
  {
    file: 'operations/membership/removed-members.ts',
    begins: [
      ': unexplainedLoss',
      '&& blocked(unexplained)',
      'function unexplainedLoss',
      'left => waitMs',
      '({ member }) =>',
      '? now',
      ': (readyChangedAt',
      '?? createdAt',
      'const since =',
      '= []',
      'replacement =>',
      '|| replacements.some',
      "return 'Delete'",
      'return {',
    ],
    because:
      'who is removed by somebody else, and volumes of the past: test/planner/checks/false-evidence.test.ts',
  },
  {
    file: 'checks/gates.ts',
    begins: [
      '? now',
      '|| since > now',
      'const healthy =',
      "({ type, status }) => type === 'Healthy'",
      "&& status === 'True'",
      'const seconds =',
      '|| aheadMs <= 0',
      '?? pod?.createdAt',
      '?? now',
    ],
    because: 'a node whose clock is ahead: test/planner/checks/gates.test.ts',
  },
  {
    file: 'checks/preflight.ts',
    begins: [
      'function faultOf',
      ': probe.read.message',
      '? probe.errors',
      'return `${name} does not answer`',
      'return `${name}: ${',
      'fault =>',
    ],
    because: 'what those that would stay say: test/planner/model/membership-memory.test.ts',
  },
  {
    file: 'operations/membership/scale.ts',
    begins: ['return undefined;', '&& specificationIsUsable'],
    because: 'a specification that cannot be carried out: test/planner/model/membership-memory.test.ts',
  },
  {
    file: 'checks/human-requests.ts',
    begins: ['return refused(`a restore takes', 'return refused('],
    because: 'a restore while a request is under way: test/planner/model/membership-memory.test.ts',
  },
  {
    file: 'model/step-summary.ts',
    begins: ["case 'stampResource':", ': [`take', ': [`put', '? []', '|| put.length', '|| taken.length'],
    because:
      'test/activities/resource-stamps.test.ts and test/planner/checks/false-evidence.test.ts read them',
  },
  {
    file: 'operations/stamps/claims.ts',
    begins: ['&& { [ANNOTATION_REMOVAL]'],
    because: 'a removal that was begun and not carried out: test/planner/checks/false-evidence.test.ts',
  },
  {
    file: 'operations/membership/learner.ts',
    begins: ['|| (learner', '&& replacement.replacedBy'],
    because: 'a replacement that has ended: test/planner/model/membership-memory.test.ts',
  },
  {
    file: 'checks/obstacles.ts',
    begins: ['const names = unlisted'],
    because: 'two quorums of one cluster: test/planner/checks/false-evidence.test.ts',
  },
  {
    file: 'checks/evidence.ts',
    begins: ['? undefined', '|| !saysEmpty', 'const since =', '?? pod.createdAt'],
    because: 'every volume is found empty at once: test/planner/checks/false-evidence.test.ts',
  },
  {
    file: 'operations/create/index.ts',
    begins: ['({ owned }) => owned'],
    because:
      'pods from which somebody took everything, when nothing else is left: test/planner/operations/create/create.test.ts',
  },
  {
    file: 'operations/create/index.ts',
    begins: ["return [{ kind: 'awaitQuorum'"],
    because: 'a status that is lost before the members are sealed: test/activities/seal-life.test.ts',
  },
  {
    file: 'operations/create/index.ts',
    begins: ['return blocked(nothingTells', 'function nothingTells', '({ name }) => name'],
    because:
      'pods that lost their stamps, and with them all that tells who they are: test/planner/model/identity.test.ts',
  },
  {
    file: 'operations/membership/learner.ts',
    begins: ["return { reason: 'the claim under its name", '&& claim.token', '&& isStampedOtherwise'],
    because:
      'a claim of another cluster under the name of a learner: test/planner/operations/membership/membership.test.ts',
  },
  { file: 'report/aims.ts', begins: ['return false;'], because: OUTCOMES },
  {
    file: 'checks/gates.ts',
    begins: [": { reason: 'VersionsDiffer'"],
    because:
      'another version than those of the upgrade, seen right before a member is touched: test/planner/operations/rollout/rollout.test.ts',
  },
  { file: 'checks/gates.ts', begins: [': []', '?? pod?.createdAt'], because: TYPES },
  {
    file: 'checks/evidence.ts',
    begins: ["? 'its pod has ended, and its data was in the pod'"],
    because: 'a member in a pod that was evicted: test/planner/checks/evidence.test.ts',
  },
  {
    file: 'operations/membership/removed-members.ts',
    begins: ['return blocked(obstacle, [step]);'],
    because: DOMAIN,
  },
  {
    file: 'checks/preflight.ts',
    begins: [': [fault]', "return { reason: 'DomainChanged'"],
    because: DOMAIN,
  },
  { file: 'model/member-view.ts', begins: ['|| other === asked', ': { domainFault'], because: DOMAIN },
  { file: 'operations/membership/replace.ts', begins: ['(a, b) => graceLeftMs('], because: RACE },
  {
    file: 'operations/membership/replace.ts',
    begins: ['? {'],
    because: 'a claim that is exchanged and waited for: test/activities/exchanged-claim.test.ts',
  },
  { file: 'operations/membership/scale.ts', begins: ['return undefined;', 'return [];'], because: TYPES },
  { file: 'operations/move-leader/index.ts', begins: ['? undefined'], because: TYPES },
  {
    file: 'checks/node-affinity.ts',
    because: 'all operators and fields of an affinity are a table: test/planner/checks/node-affinity.test.ts',
  },
  {
    file: 'operations/stamps/rediscovery.ts',
    begins: ['return undefined;'],
    because: 'a status that is lost while a restore is under way: test/planner/model/identity.test.ts',
  },
  { file: 'operations/repair/index.ts', begins: ['return [];'], because: TYPES },
  {
    file: 'operations/repair/index.ts',
    begins: ['|| version === undefined', ': { version }', '&& namesSeen.includes(name)'],
    because: RACE,
  },
  {
    file: 'operations/repair/index.ts',
    begins: [": 'delete it, or make EtcdCluster"],
    because: 'a pod on a claim without its owner: test/activities/pod-labels.test.ts',
  },
  { file: 'report/aims.ts', begins: ['() => false', '?? false', '?? observation'], because: TYPES },
  {
    file: 'report/outcome.ts',
    begins: [
      'return undefined;',
      'return decision.message;',
      '? `${goal} is not asked for any more`',
      "? ''",
      "&& upgradeGoal(observation).kind === 'go'",
    ],
    because: OUTCOMES,
  },
  { file: 'report/conditions.ts', begins: ['&& !seat.isLearner'], because: RACE },
  { file: 'report/conditions.ts', begins: [': undefined'], because: TYPES },
  { file: 'report/quorum-risk.ts', begins: ["return 'its claim is being deleted'"], because: RACE },
  { file: 'report/quorum-risk.ts', begins: [": 'gone'"], because: TYPES },
  { file: 'report/status.ts', begins: [': {}', 'return undefined;'], because: TYPES },
  {
    file: 'operations/stamps/seal.ts',
    begins: ['return undefined;'],
    because: 'the obstacle is one of repair, which says it: test/planner/operations/repair/repair.test.ts',
  },
  {
    file: 'model/member-probe.ts',
    begins: ['&& failure.denied', '? failure.message'],
    because: USERS,
  },
  {
    file: 'operations/rollout/index.ts',
    begins: ['&& probe.dbSize < quota', '&& changes.some('],
    because: 'pods without a note and another quota: test/planner/operations/rollout/rollout.test.ts',
  },
  {
    file: 'report/outdated-pods.ts',
    begins: [": 'MadeByEarlierRelease'"],
    because:
      'pods of another release that may not start empty: test/planner/operations/rollout/rendering.test.ts',
  },
  {
    file: 'operations/stamps/claims.ts',
    begins: ['&& { [ANNOTATION_CLAIM_UID]'],
    because: 'claims without a stamp: test/activities/exchanged-claim.test.ts',
  },
  {
    file: 'checks/stuck-pods.ts',
    begins: [
      'const gone =',
      'function ',
      'return operate(operation, [step(gone)',
      'return blocked({ ...why, waitMs',
      ': operate(operation, [step(stuck)',
      'return `${name}',
      "return 'whoever put",
      'return `read the events',
    ],
    because: 'proof and approvals for each kind of pod that does not end: test/activities/stuck-pods.test.ts',
  },
  {
    file: 'model/step-summary.ts',
    begins: ["case 'forceDeletePods'"],
    because: 'proof and approvals for each kind of pod that does not end: test/activities/stuck-pods.test.ts',
  },
  {
    file: 'operations/certificates/index.ts',
    begins: ['? undefined', ': takenNames(observation)', '&& taken !== undefined', 'return blocked(taken,'],
    because: 'Secrets whose names are taken: test/planner/checks/failed-steps.test.ts',
  },
  {
    file: 'operations/certificates/index.ts',
    begins: [
      'return undefined;',
      '|| !membersRun(',
      'const names =',
      "return [finding('TLSReady', other.reason",
    ],
    because: 'another issuer of cert-manager: test/activities/cert-manager-life.test.ts',
  },
  {
    file: 'operations/certificates/index.ts',
    begins: ['&& `no member can take', "return [finding('TLSReady', 'NextNamesMissing'"],
    because: 'certificates that name members: test/activities/tls-next-names.test.ts',
  },
  {
    file: 'operations/certificates/authorities.ts',
    because: 'a table: test/planner/operations/certificates/authorities.test.ts',
  },
  {
    file: 'operations/certificates/next-names.ts',
    because: 'a table: test/planner/operations/certificates/authorities.test.ts',
  },
  {
    file: 'report/conditions.ts',
    begins: ["? 'members were made without volumes"],
    because: 'a class of storage that comes too late: test/planner/report/conditions.test.ts',
  },
  {
    file: 'operations/upgrade/backup.ts',
    begins: [
      'return undefined;',
      "return snapshotBefore === 'Required'",
      '? blocked(missing(observation), steps)',
      ': []',
      '(a, b) => (a.name < b.name',
      "return { kind: 'none' };",
      ': bad(',
      "return { kind: 'good' };",
      "? 'its backup is not a verified one",
      '?.newest?.time',
      ': `the newest is of',
      ": 'it is asked for when",
    ],
    because: ANSWERS,
  },
  { file: 'operations/upgrade/failure.ts', begins: ['return false;'], because: RACE },
  { file: 'operations/upgrade/goal.ts', begins: ['?? to', 'return false;'], because: TYPES },
  { file: 'operations/upgrade/goal.ts', begins: ['? undefined'], because: RACE },
  {
    file: 'operations/upgrade/goal.ts',
    begins: ['|| canGoBack(observation, latch)', ': go(to, [], later)', '? []'],
    because: 'another target in the middle: test/activities/upgrade-life.test.ts',
  },
  {
    file: 'operations/upgrade/goal.ts',
    begins: ['? undefined'],
    because: 'another target while no quorum tells: longer runs reach it by chance',
  },
  { file: 'operations/upgrade/index.ts', begins: ['return undefined;', '{'], because: RACE },
  { file: 'operations/upgrade/index.ts', begins: ['?? pod?.createdAt'], because: TYPES },
  { file: 'operations/upgrade/rollback.ts', begins: ['?? to'], because: TYPES },
  {
    file: 'operations/upgrade/rollback.ts',
    begins: ['?? to'],
    because: TYPES,
  },
  {
    file: 'operations/upgrade/rollback.ts',
    begins: [": ': the cluster has agreed on", '{'],
    because:
      'a failure after the point of no return, or with data in the pod: test/activities/upgrade-interrupted.test.ts, upgrade-life.test.ts',
  },
  {
    file: 'operations/upgrade/settings.ts',
    begins: ['return `let ETCD_FEATURE_GATES contain', ': `remove ${variable}`'],
    because: WAYS,
  },
  {
    file: 'operations/upgrade/path.ts',
    begins: [
      '{',
      '? Object.values(NEWEST_KNOWN)',
      'return undefined;',
      'return refused(',
      '|| authEnabled === false',
      'const known =',
      ": 'it is not known whether authentication is off'",
      ': `No release is one step from all of them',
      'return true;',
    ],
    because: WAYS,
  },
];
