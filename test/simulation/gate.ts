/**
 * Every branch of the planner is reached by the simulation, or it is said here why not. A branch is what V8 counts: a function, an
 * arm of a condition, what comes after a return.
 */
import type { Unreached } from './branches.ts';

/** Branches that the simulation does not reach, by their file below src/planner and how they begin. */
interface Exempt {
  readonly file: string;
  /** Absent: all of the file, which a test of its own goes through. */
  readonly begins?: readonly string[];
  readonly because: string;
}

/** What stands in for a value that the types allow to be absent and that the callers have made sure of. */
const FALLBACK =
  /^\?\? ('[^']*'|-?\d+n?|\[\]|\{\}|undefined|Number\.NaN|(\w+\.)?now)$|^\?\.\w+$|^throw new RangeError/;

/** EtcdBackups have planners of their own, which never touch a member: functions of their arguments alone. */
const backups = (name: string, test: string): Exempt => ({
  file: `backup/${name}.ts`,
  because: `no EtcdBackup runs in the simulation: ${test}`,
});

const TYPES = 'the types allow it, what was looked at before excludes it';
const RACE = 'only when something changes between two reads of one pass; longer runs reach it by chance';
const WAYS = 'which version leads where is a table: test/planner/versions.test.ts goes through all of them';
const NAMES = 'every way to name a backup: test/planner/restore-object.test.ts';

const USERS = 'no users are simulated: test/activities/restore-life.test.ts';
const ANSWERS = 'what an EtcdBackup answers, and when: test/activities/upgrade-backup.test.ts';

const DOMAIN = 'the domain of members is not changed in the simulation: test/planner/domain.test.ts';
const OUTCOMES = 'how an operation ends is a table: test/planner/outcome.test.ts';

const EXEMPT: readonly Exempt[] = [
  backups('calendar', 'test/planner/backup/cron-times.test.ts'),
  backups('cron-times', 'test/planner/backup/cron-times.test.ts'),
  backups('endpoints', 'test/planner/backup/source.test.ts'),
  backups('of-cluster', 'test/planner/backup/of-cluster.test.ts'),
  backups('plan', 'test/planner/backup/schedule.test.ts'),
  backups('report', 'test/activities/backup/backup-life.test.ts'),
  backups('retention', 'test/planner/backup/retention.test.ts'),
  backups('retry', 'test/activities/backup/backup-life.test.ts'),
  backups('schedule', 'test/planner/backup/schedule.test.ts'),
  backups('source', 'test/planner/backup/source.test.ts'),
  backups('verification', 'test/planner/backup/verification.test.ts'),
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
    file: 'membership/total-loss.ts',
    begins: ['const known =', '({ owned, token', '&& token ===', '&& keptUntil ===', '&& !known.includes'],
    because: 'a status from which somebody took the members: test/planner/false-evidence.test.ts',
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
    file: 'restore/admission.ts',
    begins: ['return undefined;', '? -1'],
    because: 'two restores at once in the other order: test/activities/restore-life.test.ts',
  },
  {
    file: 'restore/object.ts',
    begins: [
      '|| undefined',
      "return missing('neither spec.backupRef",
      '&& { abs }',
      '&& { gcs }',
      '&& { oss }',
      '&& { file }',
      '?? Number.POSITIVE_INFINITY',
      ': -1',
    ],
    because: NAMES,
  },
  {
    file: 'member-probe.ts',
    begins: ['&& failure.denied', '? failure.message'],
    because: USERS,
  },
  {
    file: 'membership/total-loss.ts',
    begins: ["&& cluster.status.storage?.kind !== 'EmptyDir'", 'return undefined;'],
    because: 'asked of a cluster that sleeps: test/planner/restore-confirmation.test.ts',
  },
  {
    file: 'restore/admission.ts',
    begins: ['|| found.incarnation.members.length', "return waits('StatusLost'"],
    because: 'a status that is lost beside a confirmed restore: test/planner/restore-confirmation.test.ts',
  },
  { file: 'restore/admission.ts', begins: ['return refused('], because: USERS },
  {
    file: 'restore/admission.ts',
    begins: ['&& pod.token?.startsWith', '&& !hasEnded(pod)', 'const names = strays'],
    because: 'pods of members whose owner somebody took away: test/planner/restore-fits.test.ts',
  },
  {
    file: 'restore/object.ts',
    begins: ['return missing('],
    because: 'a restore is edited after it has begun: test/activities/restore-in-motion.test.ts',
  },
  {
    file: 'restore/plan.ts',
    begins: [
      '? lostAgain(',
      'function lostAgain(',
      'pod => pod.owned && saysEmpty(',
      'return fenced({ ...observation, pods: before }',
    ],
    because:
      'restored, or to be restored, and all volumes are lost: test/activities/restore-in-motion.test.ts',
  },
  {
    file: 'restore/confirmation.ts',
    begins: ['return undefined;', '{', '? clientService.exists', 'return waits(', "return 'sleeps"],
    because: 'whose data may be overwritten is a table: test/planner/restore-confirmation.test.ts',
  },
  {
    file: 'restore/refusal.ts',
    begins: ['return undefined;', '&& { lookAgain: word }'],
    because: 'people who ask for another look: test/activities/restore-refused.test.ts',
  },
  {
    file: 'restore/resource.ts',
    begins: ['? { ...observation, restore: unrefused', 'function unrefused'],
    because: 'people who ask for another look: test/activities/restore-refused.test.ts',
  },
  { file: 'restore/resource.ts', begins: ['{', 'return undefined;'], because: RACE },
  { file: 'restore/report.ts', begins: [': undefined'], because: TYPES },
  {
    file: 'restore/admission.ts',
    begins: ['&& cluster.config.TLS', 'return {', '{'],
    because: USERS,
  },
  {
    file: 'restore/resource.ts',
    begins: ['?.storage?.emptyDir'],
    because: 'a template without volumes: test/activities/restore-life.test.ts',
  },
  {
    file: 'rollout.ts',
    begins: ['&& probe.dbSize < quota', '&& changes.some('],
    because: 'pods of earlier releases and another quota: test/planner/rollout.test.ts',
  },
  {
    file: 'report/outdated-pods.ts',
    begins: [": 'MadeByEarlierRelease'"],
    because: 'pods of earlier releases that may not start empty: test/planner/rendering.test.ts',
  },
  { file: 'restore/of-cluster.ts', begins: ['return undefined;'], because: RACE },
  { file: 'restore/plan.ts', begins: [": [{ kind: 'awaitMembers'"], because: RACE },
  { file: 'restore/of-cluster.ts', begins: ['?? REVISION_BUMP'], because: TYPES },
  { file: 'restore/plan.ts', begins: [': []', 'return [];', ': decision'], because: TYPES },
  {
    file: 'restore/total-loss.ts',
    begins: ['|| restore.name === name'],
    because: 'the restore that was asked for is refused: test/planner/restore-confirmation.test.ts',
  },
  {
    file: 'stamps.ts',
    begins: ['&& { [ANNOTATION_CLAIM_UID]'],
    because: 'claims of earlier releases: test/activities/exchanged-claim.test.ts',
  },
  {
    file: 'stuck-pods.ts',
    begins: [
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
    file: 'restore/plan.ts',
    begins: ['? alarm'],
    because: 'one kind of alarm is as good as the other: test/activities/restore-life.test.ts',
  },
  {
    file: 'restore/report.ts',
    begins: [
      '{',
      'return undefined;',
      ': `${decision.summary}: ${failed.message}`',
      ': `${step}: ${message}`',
    ],
    because: RACE,
  },
  {
    file: 'restore/report.ts',
    begins: ["return `${word ?? ''"],
    because: 'a restore is edited after it has begun: test/activities/restore-in-motion.test.ts',
  },
  {
    file: 'restore/report.ts',
    begins: ['return `EtcdCluster ${target.cluster.name} sleeps'],
    because: 'put to sleep in the middle of a restore: test/planner/restore-word.test.ts',
  },
  { file: 'restore/report.ts', begins: [': []'], because: TYPES },
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

/** The tests that reasons name, as paths from the root. */
export const NAMED_TESTS: readonly string[] = EXEMPT.flatMap(
  ({ because }) => because.match(/test\/\S+\.test\.ts/g) ?? [],
);

export interface Verdict {
  /** Neither reached nor exempt. */
  readonly missing: readonly Unreached[];
  /** Exempt, and no longer there or reached in every run: to be taken off the list. */
  readonly needless: readonly string[];
}

/** Judges what a run left unreached. */
export function judge(unreached: readonly Unreached[]): Verdict {
  const needed = unreached.filter(({ text }) => !FALLBACK.test(text));
  return {
    missing: needed.filter(branch => !EXEMPT.some(exempt => covers(exempt, branch))),
    needless: EXEMPT.flatMap(({ file, begins = [''] }) =>
      begins
        .filter(text => !needed.some(branch => isAt(branch, file, text)))
        .map(text => `${file}: ${text === '' ? 'all of it' : text}`),
    ),
  };
}

function covers({ file, begins = [''] }: Exempt, branch: Unreached): boolean {
  return begins.some(text => isAt(branch, file, text));
}

/** The file is told with its ending, so that none is taken for another that begins alike. */
function isAt({ at, text }: Unreached, file: string, begins: string): boolean {
  return at.startsWith(`src/planner/${file}:`) && text.startsWith(begins);
}
