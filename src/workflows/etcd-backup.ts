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
  carriedOfBackup,
  handleBackupMessages,
  newBackupState,
} from './backup-state.ts';
import { Deliveries, isLong, isLongBesideOperation } from './long-history.ts';
import type { Request, ResourceRef } from './messages.ts';
import { publishBackup } from './search-attributes.ts';

export interface BackupInput extends ResourceRef {
  readonly carried?: CarriedBackup;
}

type Operate = Extract<BackupDecision, { kind: 'operate' }>;
type RunWorkflow = (input: BackupRunInput) => Promise<BackupRunResult>;

/** An operation that a former run of this entity started is asked after this often; it also tells when it ends. */
const ASK_AFTER = '60s';

/** Ends when the resource is gone. */
export async function etcdBackup(input: BackupInput): Promise<void> {
  const entity = new BackupEntity(input);
  CancellationScope.current().cancelRequested.catch(() => entity.cancel('cancellation of the workflow'));
  return CancellationScope.nonCancellable(() => entity.run());
}

class BackupEntity {
  readonly #ref: ResourceRef;
  readonly #id = workflowInfo().workflowId;
  readonly #state: BackupState;
  readonly #deliveries = new Deliveries();
  #cancelled = false;

  constructor({ namespace, name, uid, carried }: BackupInput) {
    this.#ref = { namespace, name, uid };
    this.#state = newBackupState(carried);
    handleBackupMessages(this.#state);
    const { assessment } = this.#state;
    if (assessment !== undefined) setCurrentDetails(backupDetails(assessment));
  }

  /** Cancelling the entity does not end it, the resource is still there: it ends what is under way. */
  cancel(by: string): void {
    this.#cancelled = true;
    if (this.#state.operation !== undefined) Object.assign(this.#state, { stop: { by }, dirty: true });
  }

  /** Ends when the resource is gone. */
  async run(): Promise<void> {
    const { operation } = this.#state;
    if (operation !== undefined) await this.#end(() => this.#awaitOrphan());
    for (;;) {
      const { decision } = await this.#look();
      if (decision.kind === 'gone') break;
      if (decision.kind === 'operate') await this.#operate(decision);
      else {
        const wakes = () => this.#state.dirty || this.#mayContinue();
        await condition(wakes, decision.nextLookSeconds * 1_000);
      }
      if (this.#mayContinue()) await this.#continueAsNew();
    }
    await condition(() => this.#deliveries.areDone);
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
    state.published = publishBackup(assessment, state.published);
    return assessment;
  }

  /** Runs one operation to its end. */
  async #operate(decision: Operate): Promise<void> {
    const state = this.#state;
    state.operation = decision.operation;
    state.ending = undefined;
    await this.#end(async () => {
      const child = await this.#start(decision);
      // What is recorded in the resource need not be asked for again.
      if (child !== undefined && 'requestedBy' in decision.step) state.requested = undefined;
      return child === undefined ? this.#awaitOrphan() : this.#awaitChild(child, decision);
    });
  }

  /** Waits for the end of an operation and draws the conclusions. */
  async #end(awaited: () => Promise<BackupEnding | undefined>): Promise<void> {
    const state = this.#state;
    try {
      const ending = await awaited();
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
    void resultOf(child, decision).then(of => (result = of));
    while (result === undefined) {
      await condition(() => result !== undefined || this.#state.dirty || this.#mayContinueBeside());
      if (result === undefined && this.#state.dirty) await this.#lookBeside(decision.operation);
      if (result === undefined && this.#mayContinueBeside()) await this.#continueAsNew();
    }
    return result;
  }

  /** An operation that outlived the run of the entity that started it. */
  async #awaitOrphan(): Promise<BackupEnding | undefined> {
    const state = this.#state;
    const wakes = () => state.ending !== undefined || state.dirty || this.#mayContinueBeside();
    await condition(wakes, ASK_AFTER);
    if (state.ending === undefined && state.dirty) await this.#lookBeside(undefined);
    if (this.#mayContinueBeside()) await this.#continueAsNew();
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
    await this.#deliveries.count(getExternalWorkflowHandle(slotOf(this.#id)).signal(stopSignal, by));
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
        // What is under way goes on before anything that may wait is looked at.
        priority: { priorityKey: 1 },
        staticSummary: `${decision.operation} ${namespace}/${name}`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return undefined;
    }
  }

  /** Whether this run should give way, and can: nobody waits for an answer. */
  #mayContinue(): boolean {
    return (isLong() || this.#cancelled) && this.#deliveries.areDone;
  }

  /** As {@link #mayContinue}, while an operation is under way that has not told its end. */
  #mayContinueBeside(): boolean {
    return isLongBesideOperation() && this.#deliveries.areDone && this.#state.ending === undefined;
  }

  #continueAsNew(): Promise<never> {
    const carried = carriedOfBackup(this.#state);
    return continueAsNew<typeof etcdBackup>({ ...this.#ref, carried });
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
