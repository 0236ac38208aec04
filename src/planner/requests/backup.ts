/**
 * What becomes of the EtcdRequests of an EtcdBackup in one pass. A backup or a verification waits here until the slot of the EtcdBackup is
 * free; the first step of its operation accepts it. Pure.
 */
import { isOpen } from '../../api/derived/requests.ts';
import type { EtcdBackupStatus, EtcdRequest } from '../../api/schemas/types.ts';
import { attribution } from '../model/workflow-state.ts';
import type { AskedVerification, BackupWorkflowState, BackupObservation } from '../backup/observation.ts';
import { currentRun, failureOfRun } from '../backup/plan.ts';
import { planVerification } from '../backup/stored-verification.ts';
import {
  doneAtOnce,
  isAccepted,
  openRequests,
  pause,
  refusal,
  resume,
  type Target,
  unfit,
  who,
  withoutOutcome,
} from './common.ts';
import { mirroredBackupSignals, type OpenBackupSignals, takenOverByBackup } from './backup-signals.ts';
import type { Outcome, RequestChange } from './status.ts';

type Pause = NonNullable<EtcdBackupStatus['userRequests']>['pause'];

/** What a pass makes of the requests. */
export interface SettledBackup {
  readonly workflowState: BackupWorkflowState;
  /** The pause that holds, for the status of the EtcdBackup. */
  readonly pause: Pause;
  readonly changes: readonly RequestChange[];
  /** What the workflow holds and a request has ended. */
  readonly revoked: Pick<BackupWorkflowState, 'paused' | 'failed' | 'prunedAfter'>;
  /** What users asked the workflow for and is still open, for the status of the EtcdBackup. */
  readonly signals: EtcdBackupStatus['signals'];
  /** What a run that begins anew takes over from the status. */
  readonly takenOver: OpenBackupSignals;
  /** Who ends the operation under way. */
  readonly stop: BackupWorkflowState['paused'];
}

interface Draft extends SettledBackup {
  readonly observation: BackupObservation;
}

const NOTHING_TO_ABORT = 'nothing to abort: no backup is running';
const NO_RUN = 'no run of the backup was recorded: see the conditions of the EtcdBackup';

/** Judges every open request of the EtcdBackup. */
export function settleBackupRequests(
  observation: BackupObservation,
  workflowState: BackupWorkflowState,
  target: Target,
): SettledBackup {
  const { now, requests = [], backup } = observation;
  const { signals } = backup.status;
  const takenOver = takenOverByBackup(observation, workflowState);
  const { spent: _, takesOver: __, ...own } = workflowState;
  const sent = withTaken(own, takenOver);
  const held = backup.status.userRequests?.pause;
  // Only the passes of the EtcdBackup itself know what users want.
  if (sent.isOperation === true)
    return {
      workflowState: sent,
      pause: held,
      changes: [],
      signals,
      takenOver,
      revoked: {},
      stop: undefined,
    };
  const isSpent = held !== undefined && workflowState.spent?.includes(held.request) === true;
  let draft: Draft = {
    observation,
    workflowState: sent,
    pause: isSpent ? undefined : held,
    changes: [],
    signals: undefined,
    takenOver,
    revoked: {},
    stop: undefined,
  };
  for (const request of openRequests(requests)) {
    const outcome = unfit(request, target, now);
    draft =
      outcome === undefined
        ? settle(draft, request, workflowState.spent ?? [])
        : withChange(draft, { request, outcome });
  }
  const { observation: ___, ...judged } = draft;
  // What EtcdRequests ask for is not among it.
  const { paused } = judged.workflowState;
  const { paused: ____, ...open } = sent;
  const settled = {
    ...judged,
    signals: mirroredBackupSignals({ ...open, ...(paused && { paused }) }, backup),
  };
  const { pause: holds } = settled;
  return holds === undefined
    ? settled
    : { ...settled, workflowState: { ...settled.workflowState, paused: who(holds) } };
}

/** What the run holds goes before what it takes over. */
function withTaken(workflowState: BackupWorkflowState, taken: OpenBackupSignals): BackupWorkflowState {
  const [first] = taken.verifications ?? [];
  return {
    ...taken,
    ...(first && { verify: first }),
    ...workflowState,
    ...(first && { verifications: [...(taken.verifications ?? []), ...(workflowState.verifications ?? [])] }),
  };
}

function withChange(draft: Draft, change: RequestChange): Draft {
  return { ...draft, changes: [...draft.changes, change] };
}

function settle(draft: Draft, request: EtcdRequest, spent: readonly string[]): Draft {
  const { observation, workflowState } = draft;
  const { now } = observation;
  switch (request.spec.action) {
    case 'Pause': {
      const answer = 'paused: no backup is started';
      const paused = pause({ pause: draft.pause, message: workflowState.paused }, request, {
        spent,
        now,
        answer,
      });
      return { ...withChange(draft, paused.change), pause: paused.pause };
    }
    case 'Resume': {
      const resumed = resume({ pause: draft.pause, message: workflowState.paused }, request);
      const after = { ...withChange(draft, resumed.change), pause: resumed.pause };
      return resumed.revoked === undefined ? after : revoke(after, { paused: resumed.revoked });
    }
    case 'Resync':
      return resync(draft, request);
    case 'Abort':
      return abort(draft, request);
    case 'BackupNow':
      return backUp(draft, request);
    case 'VerifyBackup':
      return verify(draft, request);
    default:
      return withChange(draft, refusal(request, `${request.spec.action} is not for an EtcdBackup`));
  }
}

/** The workflow is to forget this, and the pass does not count it any more. */
function revoke(draft: Draft, ended: SettledBackup['revoked']): Draft {
  const left = Object.entries(draft.workflowState).filter(([field]) => !Object.hasOwn(ended, field));
  return { ...draft, workflowState: Object.fromEntries(left), revoked: { ...draft.revoked, ...ended } };
}

/** What has failed is tried again now, and the store is looked into. */
function resync(draft: Draft, request: EtcdRequest): Draft {
  const { failed, prunedAfter } = draft.workflowState;
  const found = [
    failed && `failure of ${failed.operation} ${failed.retryAt}`,
    prunedAfter !== undefined && `pruned after ${prunedAfter}`,
  ];
  const present = found.filter(id => typeof id === 'string');
  const ids = (isAccepted(request) ? request.status?.ids : undefined) ?? present;
  const ended = {
    ...(failed && ids.includes(String(found[0])) && { failed }),
    ...(prunedAfter !== undefined && ids.includes(String(found[1])) && { prunedAfter }),
  };
  const done = doneAtOnce(request, 'a pass looked again', ids);
  return revoke(withChange(draft, Object.keys(ended).length === 0 ? done : withoutOutcome(done)), ended);
}

/** Ends the run, or the verification, that is under way: it is accepted with what it ends, and done when that has ended. */
function abort(draft: Draft, request: EtcdRequest): Draft {
  const under = underWay(draft);
  const { ids: [id] = [], message = '' } = isAccepted(request)
    ? (request.status ?? {})
    : { ids: under && [under.id], message: under && `${under.operation} is aborted` };
  if (id === undefined) return withChange(draft, refusal(request, NOTHING_TO_ABORT));
  const done = doneAtOnce(request, message, [id]);
  if (id !== under?.id) return withChange(draft, done);
  const by = who(request.spec);
  const outcome = { state: 'aborted', message: `aborted by ${attribution(request.spec)}` } as const;
  const { verify, ...workflowState } = draft.workflowState;
  return {
    ...draft,
    changes: [
      ...draft.changes.map(each => (each.request.metadata.uid === id ? { ...each, outcome } : each)),
      withoutOutcome(done),
    ],
    workflowState: {
      ...workflowState,
      ...(verify && verify.uid !== id && { verify }),
      aborted: { ...by, startedAt: id },
    },
    stop: by,
  };
}

/** What an abort ends: the run that began then, else the verification of this request. */
function underWay({ observation, workflowState }: Draft) {
  const { backup, requests = [] } = observation;
  const run = currentRun(observation, workflowState)?.startedAt;
  if (run !== undefined) return { id: run, operation: 'takeBackup' };
  const { request: uid, completedAt } = backup.status.verification ?? {};
  if (uid === undefined || completedAt !== undefined) return undefined;
  const isUnderWay =
    workflowState.verifying === uid ||
    requests.some(each => each.metadata.uid === uid && isAccepted(each) && isOpen(each));
  return isUnderWay ? { id: uid, operation: 'verifyStoredBackup' } : undefined;
}

/** The run that a request was accepted with has its outcome; before that it waits. */
function backUp(draft: Draft, request: EtcdRequest): Draft {
  const { deleting, status, name, namespace } = draft.observation.backup;
  const [run] = isAccepted(request) ? (request.status?.ids ?? []) : [];
  if (run === undefined && deleting)
    return withChange(draft, refusal(request, `EtcdBackup ${namespace}/${name} is being deleted`));
  if (run !== undefined && status.progress?.startedAt === run) return withChange(draft, { request });
  const outcome = run === undefined ? undefined : runOutcome(draft, run);
  if (outcome !== undefined) return withChange(draft, { request, outcome });
  const { workflowState } = draft;
  const change = isAccepted(request) ? { request } : waiting(request, 'the backup has not begun');
  return {
    ...withChange(draft, change),
    workflowState: {
      ...workflowState,
      requested: workflowState.requested ?? who(request.spec),
      requests: [...(workflowState.requests ?? []), request.metadata.uid],
    },
  };
}

/** How the run that began then ended; undefined: its first step is still to be done. */
function runOutcome({ observation, workflowState: { failed } }: Draft, run: string): Outcome | undefined {
  const { lastRun, history = [], progress } = observation.backup.status;
  if (lastRun?.startedAt === run) {
    const { message = `the backup of ${run} ended: ${lastRun.outcome ?? 'its outcome is not recorded'}` } =
      lastRun;
    return { state: lastRun.outcome === 'Succeeded' ? 'done' : 'failed', message };
  }
  if (history.some(({ time }) => time === run))
    return { state: 'done', message: `the backup of ${run} is in the store` };
  const why = failed === undefined ? undefined : failureOfRun({ failed }, run);
  if (why !== undefined) return { state: 'failed', message: why };
  // A later run was recorded: this one never was, or has ended without a trace.
  const { startedAt: newest = '' } = lastRun ?? progress ?? {};
  return newest > run ? { state: 'failed', message: NO_RUN } : undefined;
}

/** The verdict in the status of the EtcdBackup has its outcome; before that it waits, or is in progress. */
function verify(draft: Draft, request: EtcdRequest): Draft {
  const { observation, workflowState } = draft;
  const wanted = wantedOf(request);
  const outcome = endOfVerification(draft, request.metadata.uid);
  if (outcome !== undefined) return withChange(draft, { request, outcome });
  const isNew = !isAccepted(request);
  const plan = isNew ? planVerification(observation, { verify: wanted }) : undefined;
  if (plan?.kind === 'refused') return withChange(draft, refusal(request, plan.message));
  const change = isNew ? waiting(request, 'the verification has not begun') : { request };
  return {
    ...withChange(draft, change),
    workflowState: { ...workflowState, verify: workflowState.verify ?? wanted },
  };
}

/** How the verification that the request with this uid asked for ended; undefined: it has not. */
function endOfVerification({ observation, workflowState }: Draft, uid: string): Outcome | undefined {
  const { verification } = observation.backup.status;
  const { failed, aborted } = workflowState;
  if (verification?.request === uid && verification.completedAt !== undefined) return verdictOf(verification);
  if (aborted?.startedAt === uid) return { state: 'aborted', message: `aborted by ${attribution(aborted)}` };
  if (failed?.operation !== 'verifyStoredBackup' || failed.startedAt !== uid) return undefined;
  return { state: 'failed', message: failed.message };
}

/** As the planner takes it. */
function wantedOf({ metadata, spec }: EtcdRequest): AskedVerification {
  const { location, verify: level, clusterRef } = spec;
  return {
    uid: metadata.uid,
    ...who(spec),
    ...(location !== undefined && { location }),
    ...(level !== undefined && { level }),
    ...(clusterRef !== undefined && { cluster: clusterRef.name }),
  };
}

function verdictOf({ outcome, message = '' }: NonNullable<EtcdBackupStatus['verification']>): Outcome {
  const verdict = outcome === 'Verified' || outcome === 'PartlyVerified' ? outcome : 'NotVerified';
  return { state: verdict === 'NotVerified' ? 'failed' : 'done', message, verdict };
}

/** Not accepted yet: said once, with the workflow that it waits for. */
function waiting(request: EtcdRequest, message: string): RequestChange {
  return { request, outcome: { state: 'waiting', message } };
}
