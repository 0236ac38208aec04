/** What to do next about one EtcdBackup. Pure: same observation, same answer. */
import { isAhead, parseTimestamp, timestamp } from '../../api/values/time.ts';
import type { BackupVerification } from '../../api/defaults/etcd-backup.ts';
import { howToAsk } from '../../api/values/request-answers.ts';
import { ANNOTATION_BACKUP_ASKED } from '../../api/names.ts';
import { isElsewhere, objectLocation, serverOf } from '../../api/derived/backup-names.ts';
import type { BackupEntry } from '../../api/schemas/types.ts';
import { validateBackup } from '../../api/validation/validate.ts';
import { attribution } from '../model/workflow-state.ts';
import type {
  BackupWorkflowState,
  BackupDecision,
  BackupFacts,
  BackupObservation,
  BackupOperation,
} from './observation.ts';
import { type KeptBackup, toDelete } from './retention.ts';
import { type Retry, retryOf } from './retry.ts';
import { recordedOf } from '../model/steps/row.ts';
import { BACKUP_STEPS, type BackupStep, LONGEST_WAIT_SECONDS } from './steps.ts';
import { type Jitter, placeOf } from './jitter.ts';
import { planVerification } from './stored-verification.ts';
import { nextBackup, type NextBackup } from './schedule.ts';

/** A resource with nothing to do is looked at this often, in case a timer of ours and its clock disagree. */
const LONGEST_CHECK_SECONDS = 3600;
/** What a run may take beyond its limit before it is given up from outside: the activity gives up by itself. */
const GRACE_MS = 60_000;

/** What is looked at first goes first. */
export function planBackup(
  observation: BackupObservation | undefined,
  workflowState: BackupWorkflowState,
): BackupDecision {
  if (observation === undefined) return { kind: 'gone' };
  const { backup } = observation;
  const progress = currentRun(observation, workflowState);
  if (backup.deleting) {
    return backup.hasFinalizer ? operate('releaseBackup', { kind: 'releaseBackup' }) : { kind: 'gone' };
  }
  if (workflowState.paused !== undefined) {
    const message = `paused by ${attribution(workflowState.paused)}; to continue, ${howToAsk('resume')}`;
    return { kind: 'blocked', reason: 'Paused', message, nextPassSeconds: LONGEST_CHECK_SECONDS };
  }
  if (progress !== undefined) return operate('takeBackup', stepOf(observation, progress));
  if (backup.hasFinalizer) return operate('takeBackup', { kind: 'releaseBackup' });
  return planNext(observation, workflowState);
}

function planNext(observation: BackupObservation, workflowState: BackupWorkflowState): BackupDecision {
  const { backup, now } = observation;
  const [fault] = validateBackup(backup.object).blocking;
  if (fault !== undefined) {
    const { message } = fault;
    return { kind: 'blocked', reason: 'SpecInvalid', message, nextPassSeconds: LONGEST_CHECK_SECONDS };
  }
  const unrecorded = failedBeforeBegun(observation, workflowState);
  if (unrecorded !== undefined) return unrecorded;
  const begin = beginning(observation, workflowState);
  if (begin !== undefined) return operate('takeBackup', begin);
  const verification = verifying(observation, workflowState);
  if (verification !== undefined) return operate('verifyStoredBackup', verification);
  if (needsPruning(observation, workflowState)) {
    const { failed } = workflowState;
    return failed?.operation === 'pruneBackups'
      ? heldBack(failed, now)
      : operate('pruneBackups', { kind: 'pruneBackups' });
  }
  return { kind: 'idle', nextPassSeconds: secondsUntil(nextRunOf(observation), now) };
}

/** A run that could not even be recorded is nowhere to be seen, and would be begun again at once. */
function failedBeforeBegun(
  { backup, now }: BackupObservation,
  { failed }: BackupWorkflowState,
): BackupDecision | undefined {
  if (failed?.operation !== 'takeBackup' || failed.startedAt === backup.status.lastRun?.startedAt)
    return undefined;
  return now < failed.retryAt ? heldBack(failed, now) : undefined;
}

function heldBack(
  { message, retryAt }: { readonly message: string; readonly retryAt: number },
  now: number,
): BackupDecision {
  const nextPassSeconds = Math.max(1, Math.ceil((retryAt - now) / 1000));
  return {
    kind: 'blocked',
    reason: 'StepFailed',
    message: `${message}; the operator tries again`,
    nextPassSeconds,
  };
}

/** The run under way; undefined when there is none, or the recorded one is over without having said so. */
export function currentRun(
  { backup, now }: BackupObservation,
  workflowState: BackupWorkflowState,
): (BackupFacts['status']['progress'] & { readonly startedAt: string }) | undefined {
  const { progress } = backup.status;
  if (progress?.startedAt === undefined) return undefined;
  const { startedAt } = progress;
  if (failureOfRun(workflowState, startedAt) !== undefined || workflowState.aborted?.startedAt === startedAt)
    return undefined;
  return isOverdue({ backup, now }, startedAt) ? undefined : { ...progress, startedAt };
}

/** Why the run that began then failed; undefined when it did not. */
export function failureOfRun({ failed }: BackupWorkflowState, startedAt: string): string | undefined {
  return failed?.operation === 'takeBackup' && failed.startedAt === startedAt ? failed.message : undefined;
}

/** Whether a run has had more than its time: its creator is gone. */
function isOverdue({ backup, now }: BackupObservation, startedAt: string): boolean {
  const { waiting = false } = backup.status.progress ?? {};
  return now > endOfRun(backup, startedAt) + GRACE_MS + (waiting ? LONGEST_WAIT_SECONDS * 1000 : 0);
}

/** Milliseconds since the epoch. The time of a run that had to wait counts from its turn at the store. */
function endOfRun({ status, config }: BackupFacts, startedAt: string): number {
  const begun = parseTimestamp(status.progress?.turnAt) ?? parseTimestamp(startedAt) ?? 0;
  return begun + config.timeoutSeconds * 1000;
}

function stepOf(
  { backup, now }: BackupObservation,
  {
    startedAt,
    written = false,
    waiting = false,
  }: NonNullable<BackupFacts['status']['progress']> & {
    readonly startedAt: string;
  },
): BackupStep {
  const { timeoutSeconds, verify } = backup.config;
  if (waiting) return { kind: 'takeSnapshot', startedAt, secondsLeft: timeoutSeconds, waits: true };
  const secondsLeft = Math.max(1, Math.ceil((endOfRun(backup, startedAt) - now) / 1000));
  const kind = written && verify !== 'Checksum' ? 'verifyBackup' : 'takeSnapshot';
  return { kind, startedAt, secondsLeft };
}

/** The verification that somebody asked for, if it makes sense. */
function verifying(
  observation: BackupObservation,
  workflowState: BackupWorkflowState,
): BackupStep | undefined {
  const plan = planVerification(observation, workflowState);
  const { verify } = workflowState;
  if (verify === undefined || plan?.kind !== 'ready') return undefined;
  const { location, level } = plan;
  const by = attribution(verify).slice(0, 256);
  const { timeoutSeconds: secondsLeft } = observation.backup.config;
  return { kind: 'verifyStoredBackup', request: verify.uid, location, level, by, secondsLeft };
}

/** The backup that is to be begun now, if one is. */
function beginning(
  observation: BackupObservation,
  { requested, requests }: BackupWorkflowState,
): BackupStep | undefined {
  const { backup, now } = observation;
  const startedAt = startOf(backup, now);
  if (requested !== undefined)
    return {
      kind: 'beginBackup',
      startedAt,
      requestedBy: attribution(requested).slice(0, 256),
      ...(requests && { requests }),
    };
  if (isAskedFor(backup, now))
    return { kind: 'beginBackup', startedAt, requestedBy: 'an upgrade or a restore of the cluster' };
  if (backup.config.suspended) return undefined;
  if (backup.config.schedule.kind === 'once') {
    return isOnceDue(backup) ? { kind: 'beginBackup', startedAt } : undefined;
  }
  const next = scheduled(observation);
  if (next.kind === 'due') return { kind: 'beginBackup', startedAt, scheduledFor: timestamp(next.at) };
  const retry = pendingRetry(backup);
  if (retry === undefined || retry.at > now) return undefined;
  return { kind: 'beginBackup', startedAt, scheduledFor: retry.scheduledFor };
}

/** The next try of what failed; a schedule that is another one by now has nothing to try again. */
function pendingRetry(backup: BackupFacts): Retry | undefined {
  const { status, generation } = backup;
  return status.schedule?.rule === ruleOf(backup) ? retryOf(status, generation) : undefined;
}

/** An upgrade wants a backup, and none has begun since; it does not wait for longer than an hour. */
function isAskedFor({ object, status }: BackupFacts, now: number): boolean {
  const asked = parseTimestamp(object.metadata.annotations?.[ANNOTATION_BACKUP_ASKED]);
  if (asked === undefined || now - asked > LONGEST_CHECK_SECONDS * 1000) return false;
  const last = parseTimestamp(status.lastRun?.startedAt) ?? 0;
  return last < asked || isAhead(last, now);
}

/**
 * A run is named by its second, so no two begin in the same one: not in one of an earlier run, nor in one that a clock has shown
 * before it was set back. What such a run has left would be taken for what this one is to make.
 */
function startOf({ status }: BackupFacts, now: number): string {
  const { lastRun, history = [] } = status;
  const taken = new Set([lastRun?.startedAt, ...history.map(({ time }) => time)]);
  let at = now;
  while (taken.has(timestamp(at))) at += 1000;
  return timestamp(at);
}

/** One that was made is made; one that failed is tried again when the specification has changed. */
function isOnceDue(backup: BackupFacts): boolean {
  const { lastRun, history = [] } = backup.status;
  if (isSingleMade(backup)) return false;
  if (lastRun?.generation !== backup.generation) return true;
  // What a person asked for beside it has left an object of its own.
  return lastRun.requestedBy !== undefined && !history.some(({ time }) => time === lastRun.startedAt);
}

/**
 * Whether the backup that a specification without a schedule asks for is there: by any run, or by another one than that which
 * began at `besides`. What a person asks for before it is there, is it.
 */
export function isSingleMade({ status, object }: BackupFacts, besides?: string): boolean {
  const { lastRun, history = [], succeeded } = status;
  const path = objectLocation(object.spec);
  const server = serverOf(object.spec);
  const isIt = (entry: BackupEntry) => entry.location === path && !isElsewhere(entry, server);
  if (history.some(entry => isIt(entry) && entry.time !== besides)) return true;
  // The CoreOS operator, whose object this may be, recorded no more than that it succeeded.
  return lastRun === undefined && succeeded === true;
}

/** The schedule's answer at this moment. */
export function scheduled(observation: BackupObservation): NextBackup {
  const { backup, now } = observation;
  const { schedule } = backup.status;
  return nextBackup(backup.config.schedule, {
    now,
    jitter: jitterOf(observation),
    last: parseTimestamp(schedule?.lastTime),
    since: ruleOf(backup) === schedule?.rule ? (parseTimestamp(schedule.since) ?? now) : sinceOf(backup, now),
  });
}

/** How much later than its schedule says this backup begins: as its specification says, else as the operator does. */
export function jitterOf({ backup, jitterSeconds = 0 }: BackupObservation): Jitter {
  const { schedule } = backup.config;
  const seconds = schedule.kind === 'cron' ? (schedule.jitterSeconds ?? jitterSeconds) : 0;
  return { mostMs: seconds * 1_000, place: placeOf(backup.uid) };
}

/** A schedule that nobody has looked at yet counts from the creation of its resource; a changed one from now. */
function sinceOf({ status, createdAt }: BackupFacts, now: number): number {
  return status.schedule === undefined ? Math.min(createdAt, now) : now;
}

/** What the schedule is, in one text that changes whenever it does. */
export function ruleOf({ config }: Pick<BackupFacts, 'config'>): string {
  const { schedule, suspended } = config;
  const rule =
    schedule.kind === 'cron' ? `cron ${schedule.expression} in ${schedule.timeZone}` : schedule.kind;
  return suspended ? `${rule}, suspended` : rule;
}

/** When the next backup is due, for users; undefined when none is. */
export function nextRunOf(observation: BackupObservation): number | undefined {
  const { backup } = observation;
  if (backup.config.suspended || backup.config.schedule.kind === 'once') return undefined;
  const times = [scheduled(observation).at, pendingRetry(backup)?.at].filter(at => at !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

function needsPruning(observation: BackupObservation, { prunedAfter }: BackupWorkflowState): boolean {
  const { status, config } = observation.backup;
  const { lastRun } = status;
  if (config.retention.kind === 'all') return false;
  // What its store lets nobody delete is tried again after the next run.
  const locked = (status.history ?? []).filter(entry => entry.locked === true);
  const isLocked = (location: string) => locked.some(entry => entry.location === location);
  if (surplusOf(observation).some(({ location }) => !isLocked(location))) return true;
  return lastRun?.outcome === 'Succeeded' && lastRun.startedAt !== prunedAfter;
}

/** What the history has beyond what retention keeps and restores need. */
export function surplusOf({ backup, now, needed }: BackupObservation): readonly KeptBackup[] {
  const { status, config } = backup;
  const at = { timeZone: config.timeZone, now, needed };
  // What only the second store has is no matter of the first one's.
  const held = (status.history ?? []).filter(({ heldIn }) => heldIn !== 'Second');
  return toDelete(held.map(asKept), config.retention, at);
}

/** An entry of the history, as retention looks at it. */
export function asKept({
  location,
  time,
  verified = '',
}: NonNullable<BackupFacts['status']['history']>[number]) {
  return { location, time: parseTimestamp(time) ?? 0, verified: levelOf(verified) };
}

/** A word of another release counts for the least. */
function levelOf(verified: string): BackupVerification | '' {
  return verified === '' || verified === 'Structure' || verified === 'Restore' ? verified : 'Checksum';
}

function secondsUntil(at: number | undefined, now: number): number {
  if (at === undefined) return LONGEST_CHECK_SECONDS;
  return Math.min(LONGEST_CHECK_SECONDS, Math.max(1, Math.ceil((at - now) / 1000)));
}

function operate(operation: BackupOperation, step: BackupStep): BackupDecision {
  return { kind: 'operate', operation, step, ...recordedOf(BACKUP_STEPS, step) };
}
