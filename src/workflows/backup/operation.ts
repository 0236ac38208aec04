/** An operation of an EtcdBackup: step → pass → next step. Unlike those of clusters, its steps can be ended in the middle. */
import type { BackupAssessment } from '../../activities/index.ts';
import type { Host } from '../host.ts';
import type { Asked, Outcome, StepOutcome } from '../operation.ts';
import { answered, type FailedPass, type PassHost, type PassState } from '../passes.ts';
import { TRIES } from '../repeats.ts';
import type { BackupEnding, BackupWork } from './state.ts';

export interface BackupOperationHost extends PassHost, Pick<Host, 'wait' | 'history'> {
  pass(): Promise<BackupAssessment | FailedPass>;
  /** Ends the step in the middle when `asked.interrupt` is called. */
  perform(work: BackupWork): Promise<StepOutcome>;
}

export async function runBackupOperation(
  first: BackupWork,
  asked: Asked,
  host: BackupOperationHost,
): Promise<BackupEnding> {
  let refusals = 0;
  for (let work = first; ; ) {
    if (asked.abort !== undefined) return endingOf(work, { outcome: 'aborted', by: asked.abort });
    const done = await host.perform(work);
    refusals = done.kind === 'changed' ? refusals + 1 : 0;
    if (done.kind === 'interrupted') continue;
    if (done.kind === 'failed' || (done.kind === 'changed' && refusals === TRIES))
      return endingOf(work, { outcome: 'failed', message: done.message });
    if (done.kind === 'done' && isOver(work)) return endingOf(work, { outcome: 'ended' });
    const assessment = await passUntilAnswered(asked, host);
    if (assessment === undefined && asked.abort !== undefined) continue;
    if (assessment === undefined) return endingOf(work, { outcome: 'failed', message: WITHOUT_PASS });
    const next = nextOf(work, assessment);
    if (next === undefined) return endingOf(work, { outcome: 'ended' });
    work = next;
  }
}

const WITHOUT_PASS = 'the operator could not look at the backup again: see the condition PassFailing';

/** Makes passes until one succeeds; undefined: somebody aborts the operation meanwhile, or the history has grown long. */
async function passUntilAnswered(
  asked: Asked,
  host: BackupOperationHost,
): Promise<BackupAssessment | undefined> {
  const passing: PassState = { passFailing: undefined };
  for (;;) {
    const assessment = await answered(passing, host, () => host.pass());
    if (assessment !== undefined) return assessment;
    if (host.history() === 'veryLong') return undefined;
    await host.wait(() => asked.abort !== undefined, passing.passFailing?.retryAt);
    if (asked.abort !== undefined) return undefined;
  }
}

function isOver({ operation }: BackupWork): boolean {
  return operation === 'pruneBackups' || operation === 'verifyStoredBackup' || operation === 'copyBackups';
}

/** What a pass plans, when it is still about the same run. */
function nextOf({ operation }: BackupWork, { decision }: BackupAssessment): BackupWork | undefined {
  const goesOn = decision.kind === 'operate' && decision.operation === operation;
  return goesOn && decision.step.kind !== 'beginBackup' ? decision : undefined;
}

/** How it ended, and which run, or which verification, it was about. */
export function endingOf(
  { operation, step }: BackupWork,
  outcome: Pick<BackupEnding, 'outcome'> & Pick<Outcome, 'message' | 'by'>,
): BackupEnding {
  return {
    operation,
    ...('startedAt' in step && { startedAt: step.startedAt }),
    ...('request' in step && { startedAt: step.request }),
    ...outcome,
  };
}
