/**
 * The entity of one EtcdCluster: lives as long as the resource. It waits until something changed or it is time to
 * look, has a pass made, and when the pass plans an operation, runs that as a child in the one slot there is.
 *
 * Continue-as-new: when the history grew long and no child runs (a child would be cut off from its parent). Only what
 * the world does not say is carried over; a run that lost even that is as good as new.
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
  TerminatedFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Assessment, Decision, Operation } from '../activities/index.ts';
import { holding } from './approvals.ts';
import { clusterDetails } from './details.ts';
import {
  actorOf,
  type Carried,
  carriedOf,
  type EntityState,
  handleMessages,
  newState,
} from './entity-state.ts';
import { type Control, controlSignal, type Ending, type ResourceRef } from './messages.ts';
import { OPERATION_WORKFLOWS, type OperationInput, type OperationResult } from './operation.ts';
import { assess } from './perform.ts';
import { type PersonRequest, takeVerdicts } from './requests.ts';
import { publish } from './search-attributes.ts';

export interface EntityInput extends ResourceRef {
  readonly carried?: Carried;
}

type Operate = Extract<Decision, { kind: 'operate' }>;
type OperationWorkflow = (input: OperationInput) => Promise<OperationResult>;

/** The operation that carries out what people ask for. */
const OPERATION_OF: Readonly<Record<PersonRequest['kind'], Operation>> = {
  replaceMember: 'replaceMember',
  moveLeader: 'moveLeader',
  restart: 'rolloutCluster',
};

const LONG_HISTORY = 1_000;
/** An operation that a former run of this entity started is asked after this often; it also tells when it ends. */
const ORPHAN_LOOK = '15s';

/** Ends when the resource is gone. */
export async function etcdCluster(input: EntityInput): Promise<void> {
  const entity = new ClusterEntity(input);
  // Cancelling the entity does not end it, the resource is still there: it asks to abort what is running.
  CancellationScope.current().cancelRequested.catch(() => entity.cancel('cancellation of the workflow'));
  await CancellationScope.nonCancellable(() => entity.run());
}

class ClusterEntity {
  readonly #ref: ResourceRef;
  readonly #id = workflowInfo().workflowId;
  readonly #state: EntityState;
  #published = '';
  #cancelled = false;

  constructor({ namespace, name, uid, carried }: EntityInput) {
    this.#ref = { namespace, name, uid };
    this.#state = newState(carried);
    handleMessages(this.#state, {
      forward: () => this.#forward(),
      show: assessment => this.#show(assessment),
    });
  }

  /** A run is cancelled once; the next one can be cancelled again, so this one ends soon. */
  cancel(by: string): void {
    this.#cancelled = true;
    if (this.#state.operation === undefined) return;
    this.#state.abort = { by };
    void this.#forward();
  }

  async run(): Promise<void> {
    for (;;) {
      this.#state.dirty = false;
      const assessment = await this.#look();
      const { decision } = assessment;
      if (decision.kind === 'gone') return;
      if (decision.kind === 'operate') {
        if (await this.#operate(decision, assessment.generation)) return;
      } else {
        await condition(() => this.#state.dirty, this.#waitMs(decision.nextLookSeconds));
      }
      await this.#continueIfLong();
    }
  }

  /** Until the next look, or until an operation that failed is tried again when that is sooner. */
  #waitMs(nextLookSeconds: number): number {
    const { failed } = this.#state;
    const untilRetry = failed === undefined ? Number.POSITIVE_INFINITY : failed.retryAt - Date.now();
    return Math.max(0, Math.min(nextLookSeconds * 1_000, untilRetry));
  }

  async #look(): Promise<Assessment> {
    const state = this.#state;
    if (state.failed !== undefined && Date.now() >= state.failed.retryAt) state.failed = undefined;
    state.approvals = holding(state.approvals, Date.now());
    const assessment = await assess(this.#ref, actorOf(state), this.#id);
    this.#show(assessment);
    return assessment;
  }

  #show(assessment: Assessment): void {
    this.#state.assessment = assessment;
    this.#state.passes += 1;
    if (takeVerdicts(this.#state, assessment.verdicts)) {
      this.#state.dirty = true;
      void this.#forward();
    }
    setCurrentDetails(clusterDetails(assessment, this.#state));
    this.#published = publish(assessment, this.#published);
  }

  /** Runs one operation to its end. True when the resource is gone. */
  async #operate(decision: Operate, generation: number): Promise<boolean> {
    const state = this.#state;
    state.operation = decision.operation;
    state.ending = undefined;
    try {
      const child = await this.#startOperation(decision);
      if (child === undefined) {
        await condition(() => state.ending !== undefined, ORPHAN_LOOK);
        if (state.ending !== undefined) this.#conclude(state.ending, aimOf(decision, generation));
        return false;
      }
      const result = await resultOf(child, decision.operation);
      if (result.assessment !== undefined) this.#show(result.assessment);
      this.#conclude(result, aimOf(decision, generation));
      return result.assessment?.decision.kind === 'gone';
    } finally {
      state.operation = undefined;
      state.abort = undefined;
    }
  }

  #conclude({ operation, outcome, by, message }: Ending, aim: Aim): void {
    const state = this.#state;
    // What somebody asked for is taken back; what the specification asks for is kept from being done again.
    if (outcome === 'aborted' && !this.#takeBack(operation)) state.aborted = { operation, ...aim, ...by };
    if (outcome !== 'failed') {
      state.failures = 0;
      return;
    }
    state.failures += 1;
    const waitMs = Math.min(5_000 * 2 ** (state.failures - 1), 300_000);
    state.failed = { operation, message: message ?? 'no reason was given', retryAt: Date.now() + waitMs };
  }

  /** Whether the operation was one that somebody asked for: then it is not asked for any more. */
  #takeBack(operation: Operation): boolean {
    const [request] = this.#state.requests;
    if (request === undefined || OPERATION_OF[request.kind] !== operation) return false;
    this.#state.requests = this.#state.requests.slice(1);
    return true;
  }

  /** Undefined when the slot is taken: an operation outlived the run of the entity that started it. */
  async #startOperation(decision: Operate): Promise<ChildWorkflowHandle<OperationWorkflow> | undefined> {
    const { namespace, name } = this.#ref;
    const control = this.#control();
    try {
      const child = await startChild(OPERATION_WORKFLOWS[decision.operation], {
        workflowId: slotOf(this.#id),
        args: [{ ref: this.#ref, entity: this.#id, decision, control }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowTaskTimeout: '5s',
        staticSummary: `${decision.operation} ${namespace}/${name}`,
      });
      // What was asked for while it was being started may not have found it.
      if (!this.#isTold(control)) void this.#forward();
      return child;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      void this.#forward();
      return undefined;
    }
  }

  #control(): Control {
    const { paused, abort, approvals, requests, aborted } = this.#state;
    return {
      paused,
      abort,
      ...(approvals.length > 0 && { approvals }),
      ...(requests.length > 0 && { requests }),
      ...(aborted && { aborted }),
    };
  }

  #isTold(control: Control): boolean {
    return JSON.stringify(control) === JSON.stringify(this.#control());
  }

  async #forward(): Promise<void> {
    if (this.#state.operation === undefined) return;
    const operation = getExternalWorkflowHandle(slotOf(this.#id));
    // It may just have ended: then there is nothing to tell. A run that was cancelled could not send it otherwise.
    await CancellationScope.nonCancellable(() => operation.signal(controlSignal, this.#control())).catch(
      () => undefined,
    );
  }

  async #continueIfLong(): Promise<void> {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (historyLength < LONG_HISTORY && !continueAsNewSuggested && !this.#cancelled) return;
    await continueAsNew<typeof etcdCluster>({ ...this.#ref, carried: carriedOf(this.#state) });
  }
}

/** The result of an operation; one that people terminated, or that a fault of ours ended, has failed. */
async function resultOf(
  child: ChildWorkflowHandle<OperationWorkflow>,
  operation: Operation,
): Promise<OperationResult> {
  try {
    return await child.result();
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const { cause } = error;
    const why =
      cause instanceof TerminatedFailure ? 'it was terminated' : (rootCause(error) ?? error.message);
    const message = `the workflow of ${operation} ended without a result: ${why}`;
    return { operation, outcome: 'failed', message };
  }
}

/** What an abort of the operation holds for. */
type Aim = Pick<NonNullable<EntityState['aborted']>, 'generation' | 'subject'>;

function aimOf({ subject }: Operate, generation: number): Aim {
  return { generation, ...(subject !== undefined && { subject }) };
}

/** The id of the one operation of an entity: Temporal's uniqueness of ids is the lock. */
function slotOf(entity: string): string {
  return `${entity}/operation`;
}
