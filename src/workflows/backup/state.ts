/** What the workflow of an EtcdBackup remembers: what users asked for, the last pass, the operation under way. Pure: nothing here waits or acts. */
import type {
  BackupWorkflowState,
  BackupAssessment,
  BackupDecision,
  BackupOperation,
} from '../../activities/index.ts';
import type { Request } from '../../api/values/requests.ts';
import type { Received } from '../messages/text.ts';
import type { ResourceState } from '../host.ts';
import type { Outcome } from '../operation.ts';
import type { PassState } from '../passes.ts';
import type { SlotState } from '../slot.ts';
import { asPlanned, asWaiting, nextVerification, type Verification } from './verifications.ts';

export type BackupWork = Extract<BackupDecision, { kind: 'operate' }>;

/** How an operation of a backup ended. */
export interface BackupEnding extends Pick<Outcome, 'message' | 'by'> {
  readonly operation: BackupOperation;
  readonly outcome: 'ended' | 'aborted' | 'failed';
  /** The run, or the uid of the verification, that it was about. */
  readonly startedAt?: string;
}

/** What one run hands to the next. */
interface Remembered extends PassState {
  paused: Received | undefined;
  /** A backup now. */
  requested: Received | undefined;
  /** The one for which an operation was started: no pass may have seen its run yet. */
  starting: Received | undefined;
  /** Verifications that have not begun, the one that is under way, and its uid, which may be that of an EtcdRequest. */
  verifications: readonly Verification[];
  begun: Verification | undefined;
  verifying: string | undefined;
  /** The run began anew and no pass has succeeded yet: it takes over what the status mirrors. */
  takesOver: BackupWorkflowState['takesOver'];
  /** Uids of EtcdRequests of which nothing holds any more: a message has ended it. */
  spent: readonly string[];
  aborted: BackupWorkflowState['aborted'];
  failed: BackupWorkflowState['failed'];
  /** The run after which retention was seen to. */
  prunedAfter: string | undefined;
  running: BackupOperation | undefined;
  /** Operations that failed in a row, and until when the next one is held back. */
  failures: number;
  retryAt: number | undefined;
  /** The last pass. */
  assessment: BackupAssessment | undefined;
  /** The search attributes as they were last written. */
  published: string;
}

export interface BackupState extends Remembered, ResourceState, SlotState<BackupEnding> {
  /** What is done at the second store: this run has begun it, or not before then (milliseconds since the epoch). */
  beside: 'underWay' | number | undefined;
  /** When this run last began it, within a minute. */
  besideBegun: number[];
}

export type CarriedBackup = Readonly<Partial<Remembered>>;

/** The state of a run that begins. */
export function newBackup(carried: CarriedBackup = {}): BackupState {
  return {
    paused: undefined,
    requested: undefined,
    starting: undefined,
    verifications: [],
    begun: undefined,
    verifying: undefined,
    takesOver: Object.keys(carried).length === 0 ? { pause: true } : undefined,
    spent: [],
    aborted: undefined,
    failed: undefined,
    prunedAfter: undefined,
    running: undefined,
    failures: 0,
    retryAt: undefined,
    assessment: undefined,
    published: '',
    passFailing: undefined,
    ...carried,
    beside: undefined,
    besideBegun: [],
    changed: true,
    cancelled: false,
    gone: false,
    asks: [],
    reported: undefined,
  };
}

/** What a run hands to the next. One that has nothing under way begins with a pass. */
export function carriedBackup(backup: BackupState): CarriedBackup {
  const { paused, requested, verifications, verifying, spent, aborted, failed, prunedAfter } = backup;
  const { starting, begun, takesOver, running, failures, retryAt, published, passFailing } = backup;
  const assessment = running && backup.assessment;
  const asked = { paused, requested, verifications, verifying, spent, aborted, failed, prunedAfter };
  return {
    ...asked,
    starting,
    begun,
    takesOver,
    running,
    failures,
    retryAt,
    published,
    passFailing,
    assessment,
  };
}

/** What users asked for and what has ended, as the planner takes it. */
export function backupWorkflowState(backup: BackupState): BackupWorkflowState {
  const { paused, requested, starting, verifying, spent, aborted, failed, prunedAfter, takesOver } = backup;
  const verify = nextVerification(backup.verifications);
  const verifications = [...(backup.begun ? [backup.begun] : []), ...backup.verifications].map(asPlanned);
  return {
    ...(verify && { verify }),
    ...(verifications.length > 0 && { verifications }),
    ...(verifying !== undefined && { verifying }),
    ...(spent.length > 0 && { spent }),
    ...(paused && { paused }),
    ...(requested && { requested }),
    ...(starting && { starting }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(prunedAfter !== undefined && { prunedAfter }),
    ...(takesOver && { takesOver }),
  };
}

/** A failure of a backup stands until the next one; any other is forgotten when it may be tried again. */
export function forgetExpired(backup: BackupState, now: number): void {
  const { failed } = backup;
  if (failed !== undefined && failed.operation !== 'takeBackup' && failed.retryAt <= now)
    backup.failed = undefined;
  backup.verifications = backup.verifications.filter(({ expiresAt }) => now <= expiresAt);
}

/** After a pass: what it found to make no sense, and what an EtcdRequest has ended, is forgotten, unless something newer is there. */
export function afterPass(backup: BackupState, assessment: BackupAssessment): void {
  backup.assessment = assessment;
  takeOver(backup, assessment.takenOver ?? {});
  const { refused, revoked = {} } = assessment;
  if (refused !== undefined) forgetVerification(backup, refused.uid);
  const { paused, failed, prunedAfter } = revoked;
  if (paused && paused.at === backup.paused?.at) backup.paused = undefined;
  if (failed && failed.retryAt === backup.failed?.retryAt) backup.failed = undefined;
  if (prunedAfter !== undefined && prunedAfter === backup.prunedAfter) backup.prunedAfter = undefined;
}

/** The first pass of a run that began anew: it keeps what users requested of the former run, unless a later message to this run has ended it. */
function takeOver(backup: BackupState, open: NonNullable<BackupAssessment['takenOver']>): void {
  const { takesOver } = backup;
  if (takesOver === undefined) return;
  const { paused, requested, verifications = [] } = open;
  if (takesOver.pause === true && paused !== undefined) backup.paused ??= paused;
  backup.requested ??= requested;
  backup.verifications = [...verifications.map(asWaiting), ...backup.verifications];
  backup.takesOver = undefined;
}

function forgetVerification(backup: BackupState, uid: string): void {
  backup.verifications = backup.verifications.filter(each => each.uid !== uid);
}

/** An operation was started: what it was asked for is recorded in the resource, and need not be asked for again. */
export function afterStart(backup: BackupState, { step }: BackupWork): void {
  if ('request' in step) {
    backup.begun = backup.verifications.find(({ uid }) => uid === step.request);
    forgetVerification(backup, step.request);
    backup.verifying = step.request;
  }
  if (!('requestedBy' in step)) return;
  backup.starting = backup.requested;
  backup.requested = undefined;
}

/** Takes in how an operation ended. @param retryAt when it is tried again, had it failed */
export function afterOperation(
  backup: BackupState,
  { operation, outcome, startedAt, message, by }: BackupEnding,
  retryAt: number,
): void {
  backup.running = undefined;
  backup.retryAt = outcome === 'failed' ? retryAt : undefined;
  Object.assign(backup, { starting: undefined, begun: undefined, verifying: undefined });
  const run = startedAt === undefined ? {} : { startedAt };
  if (outcome === 'ended' && operation === 'pruneBackups')
    backup.prunedAfter = backup.assessment?.summary?.lastRun?.startedAt ?? '';
  if (outcome === 'aborted' && startedAt !== undefined) backup.aborted = { ...by, startedAt };
  if (outcome === 'failed')
    backup.failed = { operation, ...run, message: message ?? 'no reason was given', retryAt };
}

/** As many verifications wait, and as many uids are remembered. */
const MOST = 32;

export function pause(backup: BackupState, request: Received): void {
  backup.paused = request;
  backup.changed = true;
}

export function resume(backup: BackupState): void {
  const held = backup.assessment?.holding?.pause;
  backup.paused = undefined;
  if (backup.takesOver !== undefined) backup.takesOver = { pause: false };
  if (held !== undefined && !backup.spent.includes(held)) backup.spent = [...backup.spent, held].slice(-MOST);
  backup.changed = true;
}

/** Also looks into the store again, and retries at once what failed. */
export function resync(backup: BackupState): void {
  Object.assign(backup, { failed: undefined, prunedAfter: undefined, failures: 0, retryAt: undefined });
  backup.changed = true;
}

export function abort(backup: BackupState, request: Request): void {
  backup.changed = true;
  if (backup.running !== undefined) backup.asks.push({ kind: 'abort', request });
}

export function requestBackup(backup: BackupState, request: Received): void {
  backup.requested = request;
  backup.changed = true;
}

export function requestVerification(backup: BackupState, verification: Verification): void {
  backup.verifications = [...backup.verifications, verification].slice(-MOST);
  backup.changed = true;
}
