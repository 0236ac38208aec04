/**
 * The workflow of an EtcdBackup: wait → pass → carry out the operation that the pass plans → wait, for as long as the resource exists. While
 * an operation is under way passes go on: an edit is seen at once, and a deletion ends a backup.
 */
import { backoffMs } from '../api/values/backoff.ts';
import type { BackupWorkflowState, BackupAssessment } from '../activities/index.ts';
import {
  afterOperation,
  afterPass,
  afterStart,
  backupWorkflowState,
  type BackupEnding,
  type BackupState,
  type BackupWork,
  forgetExpired,
} from './backup/state.ts';
import { close, isOver, rest, type RunEnd } from './host.ts';
import { answered, type FailedPass, type PassHost } from './passes.ts';
import { type SlotHost, type Started, untilEnded } from './slot.ts';

export interface BackupHost extends SlotHost, PassHost {
  pass(workflowState: BackupWorkflowState): Promise<BackupAssessment | FailedPass>;
  /** Starts an operation; undefined: one that another run started is still under way. */
  start(work: BackupWork): Promise<Started<BackupEnding> | undefined>;
  /** The same in the slot of the second store. */
  startBeside(work: BackupWork): Promise<Started<BackupEnding> | undefined>;
  /** Shows users the last pass. */
  show(): void;
}

const BACKOFF = { firstMs: 10_000, maxMs: 600_000 };

export async function runBackup(backup: BackupState, host: BackupHost): Promise<RunEnd> {
  // A run that continues another goes on with its operation.
  if (backup.running !== undefined && !(await hasEnded(backup, host, undefined))) return 'continueAsNew';
  for (;;) {
    if (isOver(backup, host)) return 'continueAsNew';
    const assessment = await pass(backup, host);
    if (assessment === undefined) {
      await rest(backup, host, backup.passFailing?.retryAt);
      continue;
    }
    const { decision } = assessment;
    if (decision.kind === 'gone') return close(backup, host);
    if (decision.kind !== 'operate') await rest(backup, host, host.now() + decision.nextPassSeconds * 1_000);
    else if (isHeldBack(backup, decision, host.now())) {
      await rest(backup, host, backup.retryAt);
      // Something changed: what failed may succeed now. A run that continues this one is held back, too.
      if (backup.changed || host.now() >= (backup.retryAt ?? 0)) backup.retryAt = undefined;
    } else if (!(await operate(backup, host, decision))) return 'continueAsNew';
  }
}

async function pass(backup: BackupState, host: BackupHost): Promise<BackupAssessment | undefined> {
  forgetExpired(backup, host.now());
  backup.changed = false;
  const workflowState = backupWorkflowState(backup);
  const assessment = await answered(backup, host, () => host.pass(workflowState));
  if (assessment === undefined) return undefined;
  afterPass(backup, assessment);
  host.show();
  if (assessment.beside !== undefined) await workBeside(backup, host, assessment.beside);
  return assessment;
}

/** So long nothing is begun at the second store after that has failed by a fault of the operator: its own failures are in the status. */
const BESIDE_FAILED_MS = 300_000;

const MINUTE_MS = 60_000;
/** What ends and is planned again at once makes no progress. */
const MOST_A_MINUTE = 5;

/** Has the second store seen to, however long that takes: nobody waits for it. */
async function workBeside(backup: BackupState, host: BackupHost, work: BackupWork): Promise<void> {
  const now = host.now();
  if (backup.beside === 'underWay' || now < (backup.beside ?? 0)) return;
  backup.besideBegun = backup.besideBegun.filter(at => now - at < MINUTE_MS);
  if (backup.besideBegun.length >= MOST_A_MINUTE) return;
  backup.besideBegun.push(now);
  backup.beside = 'underWay';
  const started = await host.startBeside(work);
  if (started === undefined) {
    backup.beside = undefined;
    return;
  }
  void started.result.then(({ outcome }) => {
    backup.beside = outcome === 'failed' ? host.now() + BESIDE_FAILED_MS : undefined;
    backup.changed = true;
  });
}

/** The planner holds back what may wait; letting a resource go it plans again at once. */
function isHeldBack({ failed, retryAt = 0 }: BackupState, { operation }: BackupWork, now: number): boolean {
  return now < retryAt && operation === 'releaseBackup' && failed?.operation === operation;
}

/** Carries out an operation as a child workflow, in the one slot there is. False: it goes on, and the next run is to follow it. */
async function operate(backup: BackupState, host: BackupHost, work: BackupWork): Promise<boolean> {
  backup.running = work.operation;
  backup.asks = [];
  backup.reported = undefined;
  const started = await host.start(work);
  if (started !== undefined) afterStart(backup, work);
  return hasEnded(backup, host, started);
}

/** Waits for the end of the operation under way. @param started undefined: by another run */
async function hasEnded(
  backup: BackupState,
  host: BackupHost,
  started: Started<BackupEnding> | undefined,
): Promise<boolean> {
  const meanwhile = {
    due: () => (backup.changed ? 0 : undefined),
    act: () => passBeside(backup, host),
  };
  const ending = await untilEnded(backup, host, { started, meanwhile });
  if (ending === 'left') return false;
  if (ending === 'lost') backup.running = undefined;
  else {
    backup.failures = ending.outcome === 'failed' ? backup.failures + 1 : 0;
    afterOperation(backup, ending, host.now() + backoffMs(BACKOFF, backup.failures));
  }
  return true;
}

/** A pass while an operation is under way, which ends with the resource, or by an EtcdRequest. The watcher signals it once a minute: one that failed is made again. */
async function passBeside(backup: BackupState, host: BackupHost): Promise<void> {
  const assessment = await pass(backup, host);
  if (assessment === undefined) return;
  const { decision, stop } = assessment;
  if (stop !== undefined) backup.asks.push({ kind: 'abort', request: stop });
  const isReleased = decision.kind === 'operate' && decision.operation === 'releaseBackup';
  if (decision.kind === 'gone' || (isReleased && backup.running !== 'releaseBackup'))
    backup.asks.push({ kind: 'abort', request: { by: 'deletion of the resource' } });
}
