/**
 * Ready, Reconciling and Stalled, from what else a status says. As kstatus reads them (sigs.k8s.io/cli-utils/pkg/kstatus): Reconciling=True
 * is in progress, Stalled=True has failed, otherwise Ready=True is current. Pure.
 */
import { conditionThat } from '../conditions/advice.ts';
import { type Condition, type ConditionFinding, finding, type ReasonOf } from '../conditions/catalogue.ts';

type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;
type StalledBecause = ReasonOf<'Stalled'>;

/** What stops a cluster until somebody acts: the first one is reported. A running operation, such as a restore, continues all the same. */
const STOPS: readonly (readonly [condition: string, reason: string | undefined, StalledBecause])[] = [
  ['SpecValid=False', undefined, 'SpecRefused'],
  ['VersionSupported=False', undefined, 'SpecRefused'],
  ['UpgradeBlocked=True', undefined, 'SpecRefused'],
  ['Available=False', 'FormerCluster', 'DecisionAwaited'],
  ['Available=False', 'TakeUpRefused', 'DecisionAwaited'],
  ['Progressing=False', 'AwaitingApproval', 'ApprovalAwaited'],
  ['Available=False', 'AllVolumesLost', 'EverythingIsLost'],
  ['Healthy=False', 'AlarmRaised', 'AlarmStands'],
];

/** Of an EtcdCluster, from the other conditions of the same pass. */
export function readinessOfCluster(conditions: readonly Said[]): ConditionFinding[] {
  const of = (type: string) => conditions.find(condition => condition.type === type);
  const progressing = of('Progressing');
  if (progressing?.status === 'True') return inProgress(progressing.message);
  for (const [condition, reason, because] of STOPS) {
    const found = conditionThat(conditions, condition, reason);
    if (found !== undefined) return stalled(because, found.message);
  }
  if (progressing?.reason === 'Waiting') return inProgress(progressing.message);
  if (progressing !== undefined && progressing.reason !== 'AsSpecified') {
    const reason = progressing.reason === 'Paused' ? 'Held' : 'ObstacleMet';
    return [finding('Ready', reason, progressing.message)];
  }
  const healthy = of('Healthy');
  if (healthy?.reason === 'MembersChanging') return inProgress(healthy.message);
  return [rested(of('Available'), healthy)];
}

function rested(available?: Said, healthy?: Said): ConditionFinding {
  if (available?.reason === 'Hibernated') return finding('Ready', 'HibernatedAsSpecified');
  if (available?.status === 'False') return finding('Ready', 'NotAvailable', available.message);
  if (available?.status !== 'True') return finding('Ready', 'MembersNotReached', available?.message);
  if (healthy?.status === 'False') return finding('Ready', 'NotHealthy', healthy.message);
  if (healthy?.status !== 'True') return finding('Ready', 'MembersNotReached', healthy?.message);
  return finding('Ready', 'AsSpecified');
}

/** What an EtcdBackup is, besides its conditions. */
export interface BackupState {
  readonly phase: string;
  readonly isPeriodic: boolean;
  /** Of one backup that has failed: it will be tried again. */
  readonly isTriedAgain: boolean;
}

/** Of an EtcdBackup. One with a schedule is ready between its backups, and before the first. */
export function readinessOfBackup(
  conditions: readonly Said[],
  { phase, isPeriodic, isTriedAgain }: BackupState,
): ConditionFinding[] {
  const has = (condition: string) => conditionThat(conditions, condition);
  const refused = has('SpecValid=False') ?? has('ScheduleValid=False');
  if (refused !== undefined) return stalled('SpecRefused', refused.message);
  const bad = has('Succeeded=False');
  if (isPeriodic) {
    const late = has('OnSchedule=False');
    if (bad !== undefined) return [finding('Ready', 'LastBackupBad', bad.message)];
    if (late !== undefined) return [finding('Ready', 'BackupLate', late.message)];
    return [finding('Ready', phase === 'Suspended' ? 'SuspendedAsSpecified' : 'ScheduleInForce')];
  }
  if (phase === 'Running') return inProgress();
  if (phase === 'Suspended') return [finding('Ready', 'SuspendedAsSpecified')];
  if (bad !== undefined) return isTriedAgain ? inProgress(bad.message) : stalled('GivenUp', bad.message);
  if (has('Succeeded=True') !== undefined) return [finding('Ready', 'Completed')];
  const paused = has('Paused=True');
  return paused === undefined ? inProgress() : [finding('Ready', 'Held', paused.message)];
}

/** Of what ends: an EtcdRestore and an EtcdRequest. */
export function readinessOfTask(phase: string | undefined, message: string | undefined): ConditionFinding[] {
  switch (phase) {
    case 'Succeeded':
    case 'Completed':
      return [finding('Ready', 'Completed')];
    case 'Failed':
    case 'Refused':
    case 'Aborted':
    case 'Expired':
      return stalled('GivenUp', message);
    default:
      return inProgress(message);
  }
}

/** Reasons of Ready=False for which somebody should see to an EtcdBackup, although it continues. */
const BAD: readonly string[] = ['LastBackupBad', 'BackupLate'] satisfies ReasonOf<'Ready'>[];

/** What somebody should see to of an EtcdBackup, in one word; undefined: nothing. */
export function attentionOfBackup(conditions: readonly Said[]): string | undefined {
  const stands = conditionThat(conditions, 'Stalled=True');
  const bad = conditionThat(conditions, 'Ready=False');
  return stands?.reason ?? (bad !== undefined && BAD.includes(bad.reason) ? bad.reason : undefined);
}

/** While nobody can observe it. */
export const readinessUnobserved = (message: string): ConditionFinding =>
  finding('Ready', 'PassesFail', message);

function inProgress(message?: string): ConditionFinding[] {
  return [finding('Ready', 'InProgress', message), finding('Reconciling', 'WorkRemains', message)];
}

function stalled(because: StalledBecause, message?: string): ConditionFinding[] {
  return [finding('Ready', 'Stopped', message), finding('Stalled', because, message)];
}

/** The types that {@link readinessOfCluster} and its like may set: one that is not set now is not there. */
export const READINESS_TYPES: readonly string[] = ['Ready', 'Reconciling', 'Stalled'];
