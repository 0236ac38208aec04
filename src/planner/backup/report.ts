/** The status of an EtcdBackup, and what is reported to users. Pure. */
import {
  type ConditionFinding,
  type ConditionReason,
  type ConditionType,
  finding,
} from '../../api/conditions/catalogue.ts';
import { stamped, withCondition } from '../../api/conditions/stamped.ts';
import { READINESS_TYPES, readinessOfBackup } from '../../api/derived/readiness.ts';
import { isAhead, parseTimestamp, timestamp } from '../../api/values/time.ts';
import type { BackupEntry, BackupRun, EtcdBackupStatus } from '../../api/schemas/types.ts';
import { validateBackup } from '../../api/validation/validate.ts';
import { attribution } from '../model/workflow-state.ts';
import { type ResourceEvent, eventOf } from '../../api/events.ts';
import { latestFirst } from '../model/newest-entry.ts';
import type { BackupWorkflowState, BackupObservation } from './observation.ts';
import { conditionEvent } from '../../api/condition-event.ts';
import { currentRun, failureOfRun, nextRunOf, ruleOf } from './plan.ts';
import { dueOf, lateness } from './lateness.ts';
import { copyEvents, withCopies } from './second-store.ts';
import { verdictEvents } from './stored-verification.ts';
import { failuresOf, withoutFailures, type RunOfSchedule } from './retry.ts';

/** As many entries as the schema lets status hold. */
const MOST_ENTRIES = 256;

/** A pause by an EtcdRequest, if one holds. */
type Pause = NonNullable<EtcdBackupStatus['userRequests']>['pause'];

interface BackupReportContext {
  readonly workflowId: string;
  readonly pause: Pause;
  /** What is open of what users asked the workflow for. */
  readonly signals?: EtcdBackupStatus['signals'];
}

/** The whole status that a pass writes. */
export function backupStatus(
  observation: BackupObservation,
  workflowState: BackupWorkflowState,
  { workflowId, pause, signals }: BackupReportContext,
): EtcdBackupStatus {
  const { backup, now } = observation;
  const {
    progress: recorded,
    history,
    schedule: _,
    conditions: __,
    nextRun: ___,
    userRequests: ____,
    signals: _____,
    ...before
  } = backup.status;
  const progress = currentRun(observation, workflowState);
  const ended = progress === undefined ? endOfRecorded(observation, workflowState) : undefined;
  const lastRun = ended ?? before.lastRun;
  const schedule = scheduleOf(observation, ended ? { ...ended, written: recorded?.written } : progress);
  const known = { ...before, ...(lastRun && { lastRun }), ...(progress && { progress }), schedule };
  const due = dueOf({ ...observation, backup: { ...backup, status: known } });
  const next = nextRunOf({ ...observation, backup: { ...backup, status: known } });
  const written: EtcdBackupStatus = {
    ...before,
    ...resultOf(lastRun),
    phase: phaseOf(observation, { progress, lastRun }),
    observedGeneration: backup.generation,
    workflowID: workflowId,
    ...(pause && { userRequests: { pause } }),
    ...(signals && { signals }),
    schedule: { ...schedule, ...(due && { dueBy: timestamp(due.endsBy) }) },
    ...(progress && { progress }),
    ...(lastRun && { lastRun }),
    ...(history && { history }),
    ...(next !== undefined && { nextRun: timestamp(next) }),
  };
  const conditions = conditionsOf(observation, workflowState, written).map(condition =>
    stamped(condition, backup.status.conditions, { now: timestamp(now), generation: backup.generation }),
  );
  const former = (backup.status.conditions ?? []).filter(({ type }) => type === 'Copied');
  return withCopies(observation, { ...written, conditions: [...conditions, ...former] });
}

/** How the run that was recorded as under way has ended; undefined: none was. */
function endOfRecorded(
  observation: BackupObservation,
  workflowState: BackupWorkflowState,
): ReturnType<typeof unfinished> | undefined {
  const { startedAt } = observation.backup.status.progress ?? {};
  return startedAt === undefined ? undefined : unfinished(observation, workflowState, startedAt);
}

/** What the status says of a run that has succeeded: `entry` is what it wrote. */
export function withSuccess(status: EtcdBackupStatus, entry: BackupEntry, run: BackupRun): EtcdBackupStatus {
  const { progress: _, Reason: __, schedule, ...kept } = withEntry(status, entry);
  return {
    ...kept,
    ...(schedule && { schedule: withoutFailures(schedule) }),
    succeeded: true,
    lastRun: { ...run, outcome: 'Succeeded' },
    ...(run.completedAt !== undefined && { lastSuccessDate: run.completedAt }),
    ...(entry.etcdVersion !== undefined && { etcdVersion: entry.etcdVersion }),
    ...(entry.revision !== undefined && { etcdRevision: entry.revision }),
  };
}

/** What the status says of a run whose object is in the store and is still to be verified. */
export function withWritten(status: EtcdBackupStatus, entry: BackupEntry): EtcdBackupStatus {
  return { ...withEntry(status, entry), progress: { ...status.progress, written: true } };
}

/** What the status says of a run whose backup is not to be trusted: it stays in the history, not verified. */
export function withFault(
  status: EtcdBackupStatus,
  entry: BackupEntry,
  run: BackupRun & { readonly message: string },
): EtcdBackupStatus {
  const { progress: _, ...kept } = withEntry(status, { ...entry, verified: '' });
  return { ...kept, succeeded: false, Reason: run.message, lastRun: { ...run, outcome: 'Failed' } };
}

/** The status of a run that was just recorded, as the next pass will write it. */
export function finished(observation: BackupObservation, status: EtcdBackupStatus): EtcdBackupStatus {
  const { backup, now } = observation;
  const after = { now, backup: { ...backup, status } };
  const runs = { progress: status.progress, lastRun: status.lastRun };
  const stamp = { now: timestamp(now), generation: backup.generation };
  const phase = phaseOf(after, runs);
  const ended = withCondition(status.conditions, stamped(success(status), status.conditions, stamp));
  const others = ended.filter(({ type }) => !READINESS_TYPES.includes(type));
  const readiness = readinessOf(after, { ...status, phase }, others as readonly ConditionFinding[]);
  const conditions = [...readiness.map(each => stamped(each, status.conditions, stamp)), ...others];
  return { ...status, phase, conditions };
}

/** What the status says of a stored backup that was verified. */
export function withVerification(
  status: EtcdBackupStatus,
  verification: NonNullable<EtcdBackupStatus['verification']>,
  verified: string | undefined,
): EtcdBackupStatus {
  const entry = status.history?.find(({ location }) => location === verification.location);
  const known =
    verified === undefined || entry === undefined ? status : withEntry(status, { ...entry, verified });
  return { ...known, verification };
}

/** The history with one more entry, or with one replaced; newest first. */
function withEntry(status: EtcdBackupStatus, entry: BackupEntry): EtcdBackupStatus {
  const others = (status.history ?? []).filter(({ location }) => location !== entry.location);
  return { ...status, history: newestFirst([entry, ...others]) };
}

/** A history that status can hold. */
export function newestFirst(entries: readonly BackupEntry[]): readonly BackupEntry[] {
  return latestFirst(entries).slice(0, MOST_ENTRIES);
}

/** How a run ended that has left no backup. */
function unfinished(
  observation: BackupObservation,
  workflowState: BackupWorkflowState,
  startedAt: string,
): BackupRun {
  const { backup, now } = observation;
  const { scheduledFor, requestedBy, message: last } = backup.status.progress ?? {};
  const aborted = workflowState.aborted?.startedAt === startedAt ? workflowState.aborted : undefined;
  const why =
    aborted === undefined
      ? (failureOfRun(workflowState, startedAt) ??
        `it did not complete within ${backup.config.timeoutSeconds} s${last === undefined ? '' : `: ${last}`}`)
      : `aborted by ${attribution(aborted)}`;
  return {
    startedAt,
    ...(scheduledFor !== undefined && { scheduledFor }),
    ...(requestedBy !== undefined && { requestedBy }),
    completedAt: timestamp(now),
    outcome: aborted === undefined ? 'Failed' : 'Aborted',
    message: why.slice(0, 4096),
    generation: backup.generation,
  };
}

/** The fields of the CoreOS operator, true to the last run. */
function resultOf(lastRun: BackupRun | undefined): Pick<EtcdBackupStatus, 'succeeded' | 'Reason'> {
  if (lastRun === undefined) return {};
  if (lastRun.outcome === 'Succeeded') return { succeeded: true };
  return { succeeded: false, Reason: lastRun.message ?? '' };
}

type Runs = { readonly progress: object | undefined; readonly lastRun: BackupRun | undefined };

function phaseOf(
  { backup }: BackupObservation,
  { progress, lastRun }: Runs,
): NonNullable<EtcdBackupStatus['phase']> {
  if (progress !== undefined) return 'Running';
  if (validateBackup(backup.object).blocking.length > 0) return 'Pending';
  if (backup.config.suspended) return 'Suspended';
  if (backup.config.schedule.kind !== 'once') return 'Scheduled';
  if (lastRun === undefined) return backup.status.succeeded === true ? 'Succeeded' : 'Pending';
  return lastRun.outcome === 'Succeeded' ? 'Succeeded' : 'Failed';
}

/** A schedule continues from now where a clock that was ahead has noted a later time: else nothing would be due until then. */
function atLatest(time: string | undefined, now: number): string | undefined {
  const at = parseTimestamp(time);
  return at !== undefined && isAhead(at, now) ? timestamp(now) : time;
}

function scheduleOf(
  observation: BackupObservation,
  run: RunOfSchedule | undefined,
): NonNullable<EtcdBackupStatus['schedule']> {
  const { backup, now } = observation;
  const { schedule } = backup.status;
  const rule = ruleOf(backup);
  const lastTime = atLatest(schedule?.lastTime, now);
  const begun = schedule === undefined ? Math.min(backup.createdAt, now) : now;
  const known = schedule?.rule === rule ? schedule : undefined;
  return {
    rule,
    since: atLatest(known?.since, now) ?? timestamp(begun),
    ...(lastTime !== undefined && { lastTime }),
    ...failuresOf(known ?? {}, run, now),
  };
}

function conditionsOf(
  observation: BackupObservation,
  workflowState: BackupWorkflowState,
  status: EtcdBackupStatus,
): readonly ConditionFinding[] {
  const { backup } = observation;
  const judged = validateBackup(backup.object).conditions;
  const isSuspended = backup.config.suspended;
  const conditions = judged.map(condition =>
    condition.type === 'ScheduleValid' && condition.status === 'True' && isSuspended
      ? finding('ScheduleValid', 'Suspended')
      : condition,
  );
  const paused =
    workflowState.paused &&
    finding('Paused', 'PausedByPerson', `paused by ${attribution(workflowState.paused)}`);
  const late = lateness({ ...observation, backup: { ...backup, status } });
  const others = [paused, late].filter(condition => condition !== undefined);
  const found = [...conditions, ...others, success(status)];
  return [...readinessOf(observation, status, found), ...found];
}

function readinessOf(
  { backup }: BackupObservation,
  status: EtcdBackupStatus,
  found: readonly ConditionFinding[],
): readonly ConditionFinding[] {
  return readinessOfBackup(found, {
    phase: status.phase ?? '',
    isPeriodic: backup.config.schedule.kind !== 'once',
    isTriedAgain: status.schedule?.retryAt !== undefined && status.nextRun !== undefined,
  });
}

function success(status: EtcdBackupStatus): ConditionFinding {
  const { history, succeeded, lastRun, schedule, nextRun } = status;
  if (lastRun === undefined && succeeded !== true) return finding('Succeeded', 'Pending');
  if (lastRun === undefined && history === undefined) return finding('Succeeded', 'RecordedBefore');
  if (lastRun !== undefined && lastRun.outcome !== 'Succeeded') {
    const isTriedAgain = schedule?.retryAt !== undefined && nextRun !== undefined;
    const again = isTriedAgain ? `; the operator tries again at ${nextRun}` : '';
    const reason = isDistrusted(lastRun, history?.[0]) ? 'BackupNotVerified' : 'Failed';
    return finding('Succeeded', reason, `${lastRun.message ?? 'no reason was given'}${again}`);
  }
  return newestIsGood(status);
}

/** What a run has written may have been found bad since. */
function newestIsGood({ history: [newest] = [], verification }: EtcdBackupStatus): ConditionFinding {
  if (newest?.verified === '' && newest.location === verification?.location)
    return finding('Succeeded', 'BackupNotVerified', verification.message);
  return finding(
    'Succeeded',
    'BackupVerified',
    newest && `${newest.location}, revision ${newest.revision ?? '?'}, ${newest.verified ?? 'not'} verified`,
  );
}

/** Whether the run has left a backup that its verification found to be bad. */
function isDistrusted({ startedAt, outcome }: BackupRun, newest: BackupEntry | undefined): boolean {
  return outcome === 'Failed' && newest?.time === startedAt && newest?.verified === '';
}

/** Conditions whose every change is an event. `Succeeded` is reported run by run. */
const REPORTED: readonly string[] = [
  'SpecValid',
  'ScheduleValid',
  'FieldsIgnored',
  'Paused',
  'OnSchedule',
] satisfies ConditionType[];
/** Reasons that are no news of a new backup. */
const INITIAL: readonly string[] = ['Valid', 'NoneIgnored', 'OnTime'] satisfies ConditionReason[];

/** What changed between two statuses that users should hear of, once each. */
export function backupTransitions(
  before: EtcdBackupStatus,
  after: EtcdBackupStatus,
): readonly ResourceEvent[] {
  const conditions = (after.conditions ?? [])
    .filter(condition => REPORTED.includes(condition.type))
    .filter(condition => {
      const previous = before.conditions?.find(({ type }) => type === condition.type);
      const quiet = previous === undefined && INITIAL.includes(condition.reason);
      return !quiet && previous?.reason !== condition.reason;
    })
    .map(conditionEvent);
  return [
    ...conditions,
    ...copyEvents(before, after),
    ...runEvents(before, after),
    ...verdictEvents(before, after),
  ];
}

function runEvents(before: EtcdBackupStatus, after: EtcdBackupStatus): readonly ResourceEvent[] {
  const { lastRun, progress, history: [newest] = [] } = after;
  const ended = lastRun !== undefined && lastRun.startedAt !== before.lastRun?.startedAt;
  const begun = progress?.startedAt !== undefined && progress.startedAt !== before.progress?.startedAt;
  const started = `backup of ${progress?.scheduledFor ?? progress?.startedAt} started`;
  return [
    ...(ended ? [endOf(lastRun, newest)] : []),
    ...(begun ? [eventOf('EtcdBackup', 'BackupStarted', started)] : []),
  ];
}

function endOf(run: BackupRun, newest?: BackupEntry): ResourceEvent {
  const { outcome = 'Failed', message } = run;
  if (outcome !== 'Succeeded') {
    const reason = isDistrusted(run, newest) ? 'BackupNotVerified' : (`Backup${outcome}` as const);
    return eventOf('EtcdBackup', reason, message ?? 'no reason was given');
  }
  const { location = 'the backup', revision = '?', size = '?', verified = 'not' } = newest ?? {};
  return message === undefined
    ? eventOf('EtcdBackup', 'BackupSucceeded', `${location} written: revision ${revision}, ${size} bytes`)
    : eventOf(
        'EtcdBackup',
        'BackupPartlyVerified',
        `${location} written, ${verified} verified only: ${message}`,
      );
}
