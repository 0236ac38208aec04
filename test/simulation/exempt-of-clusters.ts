/** Branches about a living cluster that the simulation does not reach: see gate.ts. */
import { type Exempt, TYPES, RACE, USERS } from './exempt.ts';

const WAYS = 'which version leads where is a table: test/planner/versions.test.ts goes through all of them';
const ANSWERS = 'what an EtcdBackup answers, and when: test/activities/upgrade-backup.test.ts';
const DOMAIN = 'the domain of members is not changed in the simulation: test/planner/domain.test.ts';
const OUTCOMES = 'how an operation ends is a table: test/planner/outcome.test.ts';

export const EXEMPT_OF_CLUSTERS: readonly Exempt[] = [
  {
    file: 'checks.ts',
    begins: ['const ids =', 'seat =>', '?? id'],
    because: 'volumes with the log of an earlier cluster: test/activities/earlier-volumes.test.ts',
  },
  {
    file: 'create.ts',
    begins: ['const { clusterId } = membership'],
    because: 'volumes with the log of an earlier cluster: test/planner/create.test.ts',
  },
  {
    file: 'restore/plan.ts',
    begins: ['return blocked(foreign'],
    because: 'volumes with the log of an earlier cluster: test/activities/earlier-volumes.test.ts',
  },
  {
    file: 'membership/learner.ts',
    begins: ['|| probe.clusterId ===', 'return probe.clusterId', 'return { reason: `its volume holds'],
    because: 'volumes with the log of an earlier cluster: test/activities/earlier-volumes.test.ts',
  },
  {
    file: 'membership/learner.ts',
    begins: ["return { reason: 'a pod or claim of its name", '&& !object.owned'],
    because: 'names that somebody else takes: test/activities/strange-claims.test.ts',
  },
  {
    file: 'membership/learner.ts',
    begins: ['? cluster.status.learner', ': PATIENCE_MS'],
    because: 'a learner whose pod goes, and one that no node takes: test/activities/learner-given-up.test.ts',
  },
  {
    file: 'repair.ts',
    begins: ['return strangers'],
    because: 'the domain of members is not changed in the simulation: test/planner/domain.test.ts',
  },
  {
    file: 'restore/plan.ts',
    begins: ['&& ready.length', 'return blocked(unusable'],
    because: 'a specification that becomes unusable in a restore: test/planner/restore-growing.test.ts',
  },
  {
    file: 'restore/seed.ts',
    begins: ["? 'is being deleted'"],
    because: 'what may be the matter with the claim: test/planner/restore-beginning.test.ts',
  },
  {
    file: 'upgrade/ephemeral.ts',
    begins: ['return from === to', ': `set spec.version'],
    because: 'the ways out are a table: test/activities/upgrade-life.test.ts',
  },
  {
    file: 'tls.ts',
    begins: ["return [finding('TLSReady', 'SharedIssuer'", 'return `ClusterIssuer'],
    because: 'an issuer of all namespaces: test/activities/cert-manager-life.test.ts',
  },
  {
    file: 'tls.ts',
    begins: ['return blocked(doubt)', 'const minutes =', '&& !isFormed', ": 'behind'"],
    because: 'clocks that differ: test/activities/tls-life.test.ts',
  },
  {
    file: 'membership/evidence.ts',
    begins: ['// Machines that were without power', 'const detail =', 'each => each.name === name'],
    because: 'disks that are mounted late, after a long outage: test/planner/long-outage.test.ts',
  },
  { file: 'report/members.ts', begins: ['return {};'], because: TYPES },
  { file: 'failing.ts', because: 'what is refused again and again: test/planner/failing.test.ts' },
  {
    file: 'membership/replacements.ts',
    because: 'what resource and status remember together: test/planner/membership-memory.test.ts',
  },
  {
    file: 'resource-stamps.ts',
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
    because: 'what is refused again and again: test/planner/failing.test.ts',
  },
  {
    file: 'membership/index.ts',
    begins: ['passedOver ??=', '|| !isPassedOver'],
    because: 'what is refused again and again: test/planner/failing.test.ts',
  },
  {
    file: 'repair.ts',
    begins: ['? [...pods'],
    because: 'a budget that is refused: test/planner/failing.test.ts',
  },
  {
    file: 'membership/leftovers.ts',
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
    because: 'who is removed by somebody else, and volumes of the past: test/planner/false-evidence.test.ts',
  },
  {
    file: 'gates.ts',
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
    because: 'a node whose clock is ahead: test/planner/gates.test.ts',
  },
  {
    file: 'membership/preflight.ts',
    begins: [
      'function faultOf',
      ': probe.read.message',
      '? probe.errors',
      'return `${name} does not answer`',
      'return `${name}: ${',
      'fault =>',
    ],
    because: 'what those that would stay say: test/planner/membership-memory.test.ts',
  },
  {
    file: 'membership/scale.ts',
    begins: ['return undefined;', '&& specificationIsUsable'],
    because: 'a specification that cannot be carried out: test/planner/membership-memory.test.ts',
  },
  {
    file: 'requests.ts',
    begins: ['return refused(`a restore takes', 'return refused('],
    because: 'a restore while a request is under way: test/planner/membership-memory.test.ts',
  },
  {
    file: 'step-summary.ts',
    begins: ["case 'stampResource':", ': [`take', ': [`put', '? []', '|| put.length', '|| taken.length'],
    because: 'test/activities/resource-stamps.test.ts and test/planner/false-evidence.test.ts read them',
  },
  {
    file: 'stamps.ts',
    begins: ['&& { [ANNOTATION_REMOVAL]'],
    because: 'a removal that was begun and not carried out: test/planner/false-evidence.test.ts',
  },
  {
    file: 'membership/learner.ts',
    begins: ['|| (learner', '&& replacement.replacedBy'],
    because: 'a replacement that has ended: test/planner/membership-memory.test.ts',
  },
  {
    file: 'checks.ts',
    begins: ['const names = unlisted'],
    because: 'two quorums of one cluster: test/planner/false-evidence.test.ts',
  },
  {
    file: 'membership/evidence.ts',
    begins: ['? undefined', '|| !saysEmpty', 'const since =', '?? pod.createdAt'],
    because: 'every volume is found empty at once: test/planner/false-evidence.test.ts',
  },
  {
    file: 'create.ts',
    begins: ['({ owned }) => owned'],
    because:
      'pods from which somebody took everything, when nothing else is left: test/planner/create.test.ts',
  },
  {
    file: 'create.ts',
    begins: ["return [{ kind: 'awaitQuorum'"],
    because: 'a status that is lost before the members are sealed: test/activities/seal-life.test.ts',
  },
  {
    file: 'create.ts',
    begins: ['return blocked(nothingTells', 'function nothingTells', '({ name }) => name'],
    because:
      'pods that lost their stamps, and with them all that tells who they are: test/planner/identity.test.ts',
  },
  {
    file: 'membership/learner.ts',
    begins: ["return { reason: 'the claim under its name", '&& claim.token', '&& isStampedOtherwise'],
    because: 'a claim of another cluster under the name of a learner: test/planner/membership.test.ts',
  },
  { file: 'report/aims.ts', begins: ['return false;'], because: OUTCOMES },
  {
    file: 'gates.ts',
    begins: [": { reason: 'VersionsDiffer'"],
    because:
      'another version than those of the upgrade, seen right before a member is touched: test/planner/rollout.test.ts',
  },
  { file: 'gates.ts', begins: [': []', '?? pod?.createdAt'], because: TYPES },
  {
    file: 'membership/evidence.ts',
    begins: ["? 'its pod has ended, and its data was in the pod'"],
    because: 'a member in a pod that was evicted: test/planner/evidence.test.ts',
  },
  { file: 'membership/leftovers.ts', begins: ['return blocked(obstacle, [step]);'], because: DOMAIN },
  {
    file: 'membership/preflight.ts',
    begins: [': [fault]', "return { reason: 'DomainChanged'"],
    because: DOMAIN,
  },
  { file: 'membership/seats.ts', begins: ['|| other === asked', ': { domainFault'], because: DOMAIN },
  { file: 'membership/replace.ts', begins: ['(a, b) => graceLeftMs('], because: RACE },
  {
    file: 'membership/replace.ts',
    begins: ['? {'],
    because: 'a claim that is exchanged and waited for: test/activities/exchanged-claim.test.ts',
  },
  { file: 'membership/scale.ts', begins: ['return undefined;', 'return [];'], because: TYPES },
  { file: 'move-leader.ts', begins: ['? undefined'], because: TYPES },
  {
    file: 'node-affinity.ts',
    because: 'all operators and fields of an affinity are a table: test/planner/node-affinity.test.ts',
  },
  {
    file: 'rediscovery.ts',
    begins: ['return undefined;'],
    because: 'a status that is lost while a restore is under way: test/planner/identity.test.ts',
  },
  { file: 'repair.ts', begins: ['return [];'], because: TYPES },
  {
    file: 'repair.ts',
    begins: ['|| version === undefined', ': { version }', '&& namesSeen.includes(name)'],
    because: RACE,
  },
  {
    file: 'repair.ts',
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
    file: 'seal.ts',
    begins: ['return undefined;'],
    because: 'the obstacle is one of repair, which says it: test/planner/repair.test.ts',
  },
  {
    file: 'member-probe.ts',
    begins: ['&& failure.denied', '? failure.message'],
    because: USERS,
  },
  {
    file: 'rollout.ts',
    begins: ['&& probe.dbSize < quota', '&& changes.some('],
    because: 'pods without a note and another quota: test/planner/rollout.test.ts',
  },
  {
    file: 'report/outdated-pods.ts',
    begins: [": 'MadeByEarlierRelease'"],
    because: 'pods of another release that may not start empty: test/planner/rendering.test.ts',
  },
  {
    file: 'stamps.ts',
    begins: ['&& { [ANNOTATION_CLAIM_UID]'],
    because: 'claims without a stamp: test/activities/exchanged-claim.test.ts',
  },
  {
    file: 'stuck-pods.ts',
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
    file: 'step-summary.ts',
    begins: ["case 'forceDeletePods'"],
    because: 'proof and approvals for each kind of pod that does not end: test/activities/stuck-pods.test.ts',
  },
  {
    file: 'tls.ts',
    begins: ['? undefined', ': takenNames(observation)', '&& taken !== undefined', 'return blocked(taken,'],
    because: 'Secrets whose names are taken: test/planner/failing.test.ts',
  },
  {
    file: 'tls.ts',
    begins: [
      'return undefined;',
      '|| !membersRun(',
      'const names =',
      "return [finding('TLSReady', other.reason",
    ],
    because: 'another issuer of cert-manager: test/activities/cert-manager-life.test.ts',
  },
  {
    file: 'tls.ts',
    begins: ['&& `no member can take', "return [finding('TLSReady', 'NextNamesMissing'"],
    because: 'certificates that name members: test/activities/tls-next-names.test.ts',
  },
  { file: 'authorities.ts', because: 'a table: test/planner/authorities.test.ts' },
  { file: 'next-names.ts', because: 'a table: test/planner/authorities.test.ts' },
  {
    file: 'report/conditions.ts',
    begins: ["? 'members were made without volumes"],
    because: 'a class of storage that comes too late: test/planner/report-conditions.test.ts',
  },
  {
    file: 'upgrade/backup.ts',
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
  { file: 'upgrade/failure.ts', begins: ['return false;'], because: RACE },
  { file: 'upgrade/goal.ts', begins: ['?? to', 'return false;'], because: TYPES },
  { file: 'upgrade/goal.ts', begins: ['? undefined'], because: RACE },
  {
    file: 'upgrade/goal.ts',
    begins: ['|| canGoBack(observation, latch)', ': go(to, [], later)', '? []'],
    because: 'another target in the middle: test/activities/upgrade-life.test.ts',
  },
  {
    file: 'upgrade/goal.ts',
    begins: ['? undefined'],
    because: 'another target while no quorum tells: longer runs reach it by chance',
  },
  { file: 'upgrade/index.ts', begins: ['return undefined;', '{'], because: RACE },
  { file: 'upgrade/index.ts', begins: ['?? pod?.createdAt'], because: TYPES },
  { file: 'upgrade/rollback.ts', begins: ['?? to'], because: TYPES },
  {
    file: 'upgrade/rollback.ts',
    begins: ['?? to'],
    because: TYPES,
  },
  {
    file: 'upgrade/rollback.ts',
    begins: [": ': the cluster has agreed on", '{'],
    because:
      'a failure after the point of no return, or with data in the pod: test/activities/upgrade-interrupted.test.ts, upgrade-life.test.ts',
  },
  {
    file: 'upgrade/settings.ts',
    begins: ['return `let ETCD_FEATURE_GATES contain', ': `remove ${variable}`'],
    because: WAYS,
  },
  {
    file: 'versions.ts',
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
