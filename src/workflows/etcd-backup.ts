/**
 * The entity of one EtcdBackup: lives as long as the resource. It waits until something changed or a backup is due, has
 * a pass made, and runs what the pass plans as a child in the one slot there is. While a backup runs it goes on looking:
 * an edit is seen at once, and a deletion ends the backup.
 */
import {
  CancellationScope,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  patched,
  rootCause,
  setCurrentDetails,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { BackupAssessment, BackupDecision, BackupOperation } from '../activities/index.ts';
import { backupDetails } from './backup-details.ts';
import { type BackupEnding, stopSignal } from './backup-messages.ts';
import { assessBackup } from './backup-perform.ts';
import { BACKUP_WORKFLOWS, type BackupRunInput, type BackupRunResult } from './backup-run.ts';
import {
  backupActorOf,
  type BackupState,
  type CarriedBackup,
  handleBackupMessages,
  newBackupState,
} from './backup-state.ts';
import { declineBackup } from './declined.ts';
import type { Request, ResourceRef } from './messages.ts';
import { publishBackup } from './search-attributes.ts';

export interface BackupInput extends ResourceRef {
  readonly carried?: CarriedBackup;
}

type Operate = Extract<BackupDecision, { kind: 'operate' }>;
type RunWorkflow = (input: BackupRunInput) => Promise<BackupRunResult>;

const LONG_HISTORY = 1_000;
/** An operation that a former run of this entity started is asked after this often; it also tells when it ends. */
const ORPHAN_LOOK = '15s';

/** Ends when the resource is gone. */
export async function etcdBackup(input: BackupInput): Promise<void> {
  // Histories of the release that declined backups are replayed as they were.
  if (!patched('backups')) return declineBackup(input);
  const entity = new BackupEntity(input);
  CancellationScope.current().cancelRequested.catch(() => entity.cancel('cancellation of the workflow'));
  return CancellationScope.nonCancellable(() => entity.run());
}

class BackupEntity {
  readonly #ref: ResourceRef;
  readonly #id = workflowInfo().workflowId;
  readonly #state: BackupState;
  #published = '';
  #cancelled = false;

  constructor({ namespace, name, uid, carried }: BackupInput) {
    this.#ref = { namespace, name, uid };
    this.#state = newBackupState(carried);
    handleBackupMessages(this.#state);
  }

  /** Cancelling the entity does not end it, the resource is still there: it ends what is under way. */
  cancel(by: string): void {
    this.#cancelled = true;
    if (this.#state.operation !== undefined) Object.assign(this.#state, { stop: { by }, dirty: true });
  }

  async run(): Promise<void> {
    for (;;) {
      const { decision } = await this.#look();
      if (decision.kind === 'gone') return;
      if (decision.kind === 'operate') await this.#operate(decision);
      else await condition(() => this.#state.dirty, decision.nextLookSeconds * 1_000);
      await this.#continueIfLong();
    }
  }

  async #look(): Promise<BackupAssessment> {
    const state = this.#state;
    state.dirty = false;
    if (state.failed?.operation !== 'takeBackup' && (state.failed?.retryAt ?? 0) <= Date.now()) {
      state.failed = undefined;
    }
    const assessment = await assessBackup(this.#ref, backupActorOf(state), this.#id);
    state.assessment = assessment;
    setCurrentDetails(backupDetails(assessment));
    this.#published = publishBackup(assessment, this.#published);
    return assessment;
  }

  /** Runs one operation to its end. */
  async #operate(decision: Operate): Promise<void> {
    const state = this.#state;
    state.operation = decision.operation;
    state.ending = undefined;
    try {
      const child = await this.#start(decision);
      // What is recorded in the resource need not be asked for again.
      if (child !== undefined && 'requestedBy' in decision.step) state.requested = undefined;
      const ending =
        child === undefined ? await this.#awaitOrphan() : await this.#awaitChild(child, decision);
      if (ending !== undefined) this.#conclude(ending);
      // The planner holds back what may wait; letting a resource go it plans again at once.
      if (ending?.operation === 'releaseBackup' && ending.outcome === 'failed') {
        await condition(() => state.dirty, Math.max(0, (state.failed?.retryAt ?? 0) - Date.now()));
      }
    } finally {
      state.operation = undefined;
      state.stop = undefined;
    }
  }

  async #awaitChild(
    child: ChildWorkflowHandle<RunWorkflow>,
    decision: Operate,
  ): Promise<BackupEnding | undefined> {
    let result: BackupEnding | undefined;
    const ended = resultOf(child, decision).then(of => (result = of));
    while (result === undefined) {
      await condition(() => result !== undefined || this.#state.dirty);
      if (result === undefined) await this.#lookBeside(decision.operation);
    }
    return ended;
  }

  /** The slot is taken: an operation outlived the run of the entity that started it. */
  async #awaitOrphan(): Promise<BackupEnding | undefined> {
    const state = this.#state;
    await condition(() => state.ending !== undefined || state.dirty, ORPHAN_LOOK);
    if (state.ending === undefined && state.dirty) await this.#lookBeside(undefined);
    return state.ending;
  }

  /** Something changed while an operation is under way: it may have to end. */
  async #lookBeside(operation: BackupOperation | undefined): Promise<void> {
    const { decision } = await this.#look();
    const { stop } = this.#state;
    const goes =
      decision.kind === 'gone' ||
      (decision.kind === 'operate' &&
        decision.operation === 'releaseBackup' &&
        decision.operation !== operation);
    const by: Request | undefined = goes ? { by: 'deletion of the resource' } : stop;
    if (by !== undefined) await this.#tellStop(by);
    this.#state.stop = undefined;
  }

  async #tellStop(by: Request): Promise<void> {
    // It may just have ended: then there is nothing to stop.
    await getExternalWorkflowHandle(slotOf(this.#id))
      .signal(stopSignal, by)
      .catch(() => undefined);
  }

  #conclude({ operation, outcome, startedAt, message, by }: BackupEnding): void {
    const state = this.#state;
    const run = startedAt === undefined ? {} : { startedAt };
    if (operation === 'pruneBackups' && outcome === 'ended') {
      state.tidied = state.assessment?.summary?.lastRun?.startedAt ?? '';
    }
    if (outcome === 'stopped' && startedAt !== undefined) state.aborted = { ...by, startedAt };
    if (outcome !== 'failed') {
      state.failures = 0;
      return;
    }
    state.failures += 1;
    const waitMs = Math.min(10_000 * 2 ** (state.failures - 1), 600_000);
    const why = message ?? 'no reason was given';
    state.failed = { operation, ...run, message: why, retryAt: Date.now() + waitMs };
  }

  async #start(decision: Operate): Promise<ChildWorkflowHandle<RunWorkflow> | undefined> {
    const { namespace, name } = this.#ref;
    try {
      return await startChild(BACKUP_WORKFLOWS[decision.operation], {
        workflowId: slotOf(this.#id),
        args: [{ ref: this.#ref, entity: this.#id, decision }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowTaskTimeout: '5s',
        staticSummary: `${decision.operation} ${namespace}/${name}`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return undefined;
    }
  }

  async #continueIfLong(): Promise<void> {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (historyLength < LONG_HISTORY && !continueAsNewSuggested && !this.#cancelled) return;
    const { paused, requested, aborted, failed, tidied, failures } = this.#state;
    const carried = { paused, requested, aborted, failed, tidied, failures };
    await continueAsNew<typeof etcdBackup>({ ...this.#ref, carried });
  }
}

/** The result of an operation; one that people terminated, or that a fault of ours ended, has failed. */
async function resultOf(
  child: ChildWorkflowHandle<RunWorkflow>,
  { operation, step }: Operate,
): Promise<BackupEnding> {
  try {
    return await child.result();
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const message = `the workflow of ${operation} ended without a result: ${rootCause(error) ?? error.message}`;
    const run = 'startedAt' in step ? { startedAt: step.startedAt } : {};
    return { operation, outcome: 'failed', message, ...run };
  }
}

/** The id of the one operation of an entity: Temporal's uniqueness of ids is the lock. */
function slotOf(entity: string): string {
  return `${entity}/operation`;
}
