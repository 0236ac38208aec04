/** Branches about backups, restores and the loss of everything that the simulation does not reach: see gate.ts. */
import { type Exempt, TYPES, RACE, USERS } from './exempt.ts';

/** EtcdBackups have planners of their own, which never touch a member: functions of their arguments alone. */
const backups = (name: string, test: string): Exempt => ({
  file: `backup/${name}.ts`,
  because: `no EtcdBackup runs in the simulation: ${test}`,
});

const NAMES = 'every way to name a backup: test/planner/restore/object.test.ts';

export const EXEMPT_OF_RESTORES: readonly Exempt[] = [
  backups('calendar', 'test/planner/backup/cron-times.test.ts'),
  backups('cron-times', 'test/planner/backup/cron-times.test.ts'),
  backups('endpoints', 'test/planner/backup/source.test.ts'),
  backups('newest', 'test/planner/model/backups-of-cluster.test.ts'),
  backups('of-cluster', 'test/planner/model/backups-of-cluster.test.ts'),
  backups('plan', 'test/planner/backup/schedule.test.ts'),
  backups('report', 'test/activities/backup/backup-life.test.ts'),
  backups('retention', 'test/planner/backup/retention.test.ts'),
  backups('retry', 'test/activities/backup/backup-life.test.ts'),
  backups('schedule', 'test/planner/backup/schedule.test.ts'),
  backups('source', 'test/planner/backup/source.test.ts'),
  backups('verification', 'test/planner/backup/verification.test.ts'),
  {
    file: 'operations/membership/total-loss.ts',
    begins: ['const known =', '({ owned, token', '&& token ===', '&& keptUntil ===', '&& !known.includes'],
    because: 'a status from which somebody took the members: test/planner/checks/false-evidence.test.ts',
  },
  {
    file: 'restore/preflight.ts',
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
    file: 'operations/membership/total-loss.ts',
    begins: ["&& cluster.status.storage?.kind !== 'EmptyDir'", 'return undefined;', 'return graceLeftMs('],
    because: 'asked for a restore of a cluster that sleeps: test/planner/restore/confirmation.test.ts',
  },
  {
    file: 'restore/preflight.ts',
    begins: ['|| found.incarnation.members.length', "return waits('StatusLost'"],
    because: 'a status that is lost beside a confirmed restore: test/planner/restore/confirmation.test.ts',
  },
  { file: 'restore/preflight.ts', begins: ['return refused('], because: USERS },
  {
    file: 'restore/preflight.ts',
    begins: ['&& waits(obstacle.reason'],
    because: 'names that are taken right when a restore begins: test/activities/restore-in-motion.test.ts',
  },
  {
    file: 'restore/preflight.ts',
    begins: ['&& pod.token?.startsWith', '&& !hasEnded(pod)', 'const names = strays'],
    because: 'pods of members whose owner somebody took away: test/planner/restore/fits.test.ts',
  },
  {
    file: 'restore/object.ts',
    begins: ['return missing('],
    because: 'a restore is edited after it has begun: test/activities/restore-in-motion.test.ts',
  },
  {
    file: 'operations/restore/index.ts',
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
    begins: [
      'return undefined;',
      '{',
      '({ owned }) => owned',
      '({ token = ',
      '(a, b) => serial(b)',
      '? clientService.exists',
      '&& clientService.owned',
      'return waits(',
      "return 'sleeps",
    ],
    because: 'whose data may be overwritten is a table: test/planner/restore/confirmation.test.ts',
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
    file: 'restore/preflight.ts',
    begins: ['&& cluster.config.TLS', 'return {', '{'],
    because: USERS,
  },
  {
    file: 'restore/resource.ts',
    begins: ['?.storage?.emptyDir'],
    because: 'a template without volumes: test/activities/restore-life.test.ts',
  },
  { file: 'model/restore-of-cluster.ts', begins: ['return undefined;'], because: RACE },
  { file: 'operations/restore/index.ts', begins: [": [{ kind: 'awaitMembers'"], because: RACE },
  { file: 'model/restore-of-cluster.ts', begins: ['?? REVISION_BUMP'], because: TYPES },
  { file: 'operations/restore/index.ts', begins: [': []', 'return [];', ': decision'], because: TYPES },
  {
    file: 'operations/restore/after-total-loss.ts',
    begins: ['|| restore.name === name'],
    because: 'the restore that was asked for is refused: test/planner/restore/confirmation.test.ts',
  },
  {
    file: 'operations/restore/index.ts',
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
    because: 'put to sleep in the middle of a restore: test/planner/restore/approval.test.ts',
  },
  { file: 'restore/report.ts', begins: [': []'], because: TYPES },
];
