/** What an EtcdBackup's workflow knows that the world does not say, and the handlers of its messages. */
import { log, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { BackupActor, BackupAssessment, BackupOperation } from '../activities/index.ts';
import {
  type BackupAnswer,
  type BackupEnding,
  type BackupPlanAnswer,
  backupPlanQuery,
  backupSignal,
  backupStatusQuery,
  backupUpdate,
  endedSignal,
} from './backup-messages.ts';
import { isBackupEnding } from './shapes.ts';
import { requestFrom } from './words.ts';
import {
  abortSignal,
  abortUpdate,
  changedSignal,
  pauseSignal,
  pauseUpdate,
  type Request,
  resumeSignal,
  resumeUpdate,
  resyncSignal,
} from './messages.ts';

/** Handlers only set fields; the entity's loop acts. */
export interface BackupState {
  /** Something changed since the last pass. */
  dirty: boolean;
  paused: Request | undefined;
  /** A backup now. */
  requested: Request | undefined;
  aborted: BackupActor['aborted'];
  failed: BackupActor['failed'];
  tidied: string | undefined;
  /** Failures in a row, for the back-off. */
  failures: number;
  assessment: BackupAssessment | undefined;
  /** The operation under way, and how it ended, as it told. */
  operation: BackupOperation | undefined;
  ending: BackupEnding | undefined;
  /** To be told to the operation under way. */
  stop: Request | undefined;
  /** The search attributes as they were last written; see publishBackup. */
  published: string;
}

/** What survives into the next run. */
export type CarriedBackup = Pick<
  BackupState,
  | 'paused'
  | 'requested'
  | 'aborted'
  | 'failed'
  | 'tidied'
  | 'failures'
  | 'assessment'
  | 'operation'
  | 'stop'
  | 'published'
>;

/** What is handed to the next run: everything that was said, and an operation that goes on meanwhile. */
export function carriedOfBackup(state: BackupState): CarriedBackup {
  const { paused, requested, aborted, failed, tidied, failures, operation, stop, published } = state;
  // A run that has nothing to wait for begins with a pass; one that follows an operation answers queries meanwhile.
  const assessment = operation && state.assessment;
  return {
    paused,
    requested,
    aborted,
    failed,
    tidied,
    failures,
    assessment,
    operation,
    stop,
    published,
  };
}

/** The state of a new run. */
export function newBackupState(carried: CarriedBackup | undefined): BackupState {
  const first: BackupState = {
    dirty: true,
    paused: undefined,
    requested: undefined,
    aborted: undefined,
    failed: undefined,
    tidied: undefined,
    failures: 0,
    assessment: undefined,
    operation: undefined,
    ending: undefined,
    stop: undefined,
    published: '',
  };
  return { ...first, ...carried };
}

/** Registers every handler. */
export function handleBackupMessages(state: BackupState): void {
  const set = (fields: Partial<BackupState>) => void Object.assign(state, fields, { dirty: true });
  const describe = (description: string) => ({ description });
  const abort = (request?: Request) => {
    if (state.operation !== undefined) set({ stop: requestFrom(request) });
  };
  setHandler(changedSignal, () => set({}), describe('look again (sent by the watcher)'));
  setHandler(
    backupSignal,
    request => set({ requested: requestFrom(request) }),
    describe('make a backup now: {"by": "…", "reason": "…"}'),
  );
  setHandler(
    pauseSignal,
    request => set({ paused: requestFrom(request) }),
    describe('begin nothing: {"by": "…", "reason": "…"}'),
  );
  setHandler(resumeSignal, () => set({ paused: undefined }), describe('go on after pause'));
  setHandler(
    resyncSignal,
    () => set({ failed: undefined, tidied: undefined, failures: 0 }),
    describe('look now, also into the store'),
  );
  setHandler(abortSignal, abort, describe('end the backup under way: {"by": "…", "reason": "…"}'));
  setHandler(endedSignal, ending => {
    if (isBackupEnding(ending)) set({ ending });
    else log.warn('a signal was refused: only runs of a backup send it', { signal: 'ended' });
  });
  setHandler(backupUpdate, request => {
    set({ requested: requestFrom(request) });
    return state.operation === 'takeBackup' ? 'a backup follows the one under way' : 'a backup begins';
  });
  setHandler(pauseUpdate, request => (set({ paused: requestFrom(request) }), 'paused: nothing is begun'));
  setHandler(resumeUpdate, () => (set({ paused: undefined }), 'resumed'));
  setHandler(abortUpdate, request => {
    if (state.operation === undefined) return 'nothing to abort: no backup is under way';
    abort(request);
    return `${state.operation} is ended`;
  });
  setDefaultSignalHandler(name => log.warn('unknown signal', { signal: name }));
  setHandler(backupStatusQuery, () => statusAnswer(state), describe('what is, as the last pass saw it'));
  setHandler(backupPlanQuery, () => planAnswer(state), describe('what comes next, and why'));
}

/** What people asked for and what has ended, as the planner takes it. */
export function backupActorOf(state: BackupState): BackupActor {
  const { paused, requested, aborted, failed, tidied } = state;
  return {
    ...(paused && { paused }),
    ...(requested && { requested }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(tidied !== undefined && { tidied }),
  };
}

function statusAnswer({ paused, operation, assessment }: BackupState): BackupAnswer {
  return {
    ...(paused && { paused }),
    ...(operation && { operation }),
    ...(assessment?.summary && { backup: assessment.summary }),
  };
}

function planAnswer({ assessment }: BackupState): BackupPlanAnswer {
  const decision = assessment?.decision;
  const nextRun = assessment?.summary?.nextRun;
  const next = nextRun === undefined ? {} : { nextRun };
  if (decision?.kind === 'operate')
    return { operation: decision.operation, steps: [decision.summary], ...next };
  if (decision?.kind !== 'blocked') return { steps: [], ...next };
  return { steps: [], ...next, blocked: { reason: decision.reason, message: decision.message } };
}
