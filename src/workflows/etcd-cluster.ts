/**
 * The entity of one EtcdCluster: lives as long as the resource. It waits until something changed or it is time to
 * look, has a pass made, and when the pass plans an operation, runs that as a child in the one slot there is.
 *
 * Continue-as-new: when the history grew long, and every message was answered. An operation that is under way then goes on:
 * it is not ended with its parent, and tells whichever run there is how it ends. Only what the world does not say is
 * carried over; a run that lost even that is as good as new.
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
  type Running,
} from './entity-state.ts';
import { Deliveries, isLong, isLongBesideOperation } from './long-history.ts';
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

/** An operation that a former run of this entity started is asked after this often; it also tells when it ends. */
const ASK_AFTER = '60s';

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
  readonly #deliveries = new Deliveries();
  #cancelled = false;

  constructor({ namespace, name, uid, carried }: EntityInput) {
    this.#ref = { namespace, name, uid };
    this.#state = newState(carried);
    handleMessages(this.#state, {
      forward: () => this.#forward(),
      show: assessment => this.#show(assessment),
    });
    const { assessment } = this.#state;
    if (assessment !== undefined) setCurrentDetails(clusterDetails(assessment, this.#state));
  }

  /** A run is cancelled once; the next one can be cancelled again, so this one ends soon. */
  cancel(by: string): void {
    this.#cancelled = true;
    if (this.#state.running === undefined) return;
    this.#state.abort = { by };
    void this.#forward();
  }

  /** Ends when the resource is gone and everybody who asked for something was answered. */
  async run(): Promise<void> {
    const { running } = this.#state;
    if (running !== undefined) await this.#follow(running);
    while (!(await this.#pass())) {
      if (this.#mayContinue()) await this.#continueAsNew();
    }
    this.#state.gone = true;
    await condition(() => this.#deliveries.areDone);
  }

  /** Looks, and does what there is to do, or waits until there may be something. True when the resource is gone. */
  async #pass(): Promise<boolean> {
    this.#state.dirty = false;
    const { decision, generation } = await this.#look();
    if (decision.kind === 'gone') return true;
    if (decision.kind === 'operate') return this.#operate(decision, generation);
    const wakes = () => this.#state.dirty || this.#mayContinue();
    await condition(wakes, this.#waitMs(decision.nextLookSeconds));
    return false;
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
    this.#state.published = publish(assessment, this.#state.published);
  }

  /** Runs one operation to its end. True when the resource is gone. */
  async #operate(decision: Operate, generation: number): Promise<boolean> {
    const { operation, subject } = decision;
    const running: Running = { operation, generation, ...(subject !== undefined && { subject }) };
    this.#state.running = running;
    this.#state.ending = undefined;
    const child = await this.#startOperation(decision);
    if (child === undefined) {
      await this.#follow(running);
      return false;
    }
    let result: OperationResult | undefined;
    void resultOf(child, operation).then(of => (result = of));
    await condition(() => result !== undefined || this.#mayContinueBeside());
    if (result === undefined) return this.#continueAsNew();
    if (result.assessment !== undefined) this.#show(result.assessment);
    this.#conclude(result, running);
    return result.assessment?.decision.kind === 'gone';
  }

  /** Waits for an operation that a former run of this entity started, to its end. */
  async #follow(running: Running): Promise<void> {
    const state = this.#state;
    // It may have been sent to the former run while that ended; one that finds nobody has nothing to wait for.
    while (state.ending === undefined && (await this.#forward())) {
      await condition(() => state.ending !== undefined || this.#mayContinueBeside(), ASK_AFTER);
      if (this.#mayContinueBeside()) await this.#continueAsNew();
    }
    if (state.ending === undefined) this.#leave();
    else this.#conclude(state.ending, running);
  }

  #conclude(ending: Ending, running: Running): void {
    const state = this.#state;
    const { operation, message, step } = ending;
    // An abort that came when it was giving way is kept, as one that it heard of.
    const isAborted =
      ending.outcome === 'aborted' || (ending.outcome === 'handedBack' && state.abort !== undefined);
    const by = ending.by ?? state.abort;
    this.#leave();
    // What somebody asked for is taken back; what the specification asks for is kept from being done again.
    if (isAborted && !this.#takeBack(operation)) state.aborted = { ...running, ...by };
    if (ending.outcome !== 'failed') {
      state.failures = 0;
      return;
    }
    state.failures += 1;
    const waitMs = Math.min(5_000 * 2 ** (state.failures - 1), 300_000);
    state.failed = {
      operation,
      ...(step !== undefined && { step }),
      message: message ?? 'no reason was given',
      retryAt: Date.now() + waitMs,
    };
  }

  /** No operation is under way any more. */
  #leave(): void {
    Object.assign(this.#state, { running: undefined, abort: undefined });
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
        // What is under way goes on before anything that may wait is looked at.
        priority: { priorityKey: 1 },
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
    const { paused, abort, approvals, requests, aborted, failed } = this.#state;
    return {
      paused,
      abort,
      ...(approvals.length > 0 && { approvals }),
      ...(requests.length > 0 && { requests }),
      ...(aborted && { aborted }),
      ...(failed && { failed }),
    };
  }

  #isTold(control: Control): boolean {
    return JSON.stringify(control) === JSON.stringify(this.#control());
  }

  /** Tells the operation under way what people asked for. True when it has it: it runs. */
  #forward(): Promise<boolean> {
    if (this.#state.running === undefined) return Promise.resolve(false);
    const operation = getExternalWorkflowHandle(slotOf(this.#id));
    // It may just have ended: then there is nothing to tell. A run that was cancelled could not send it otherwise.
    return this.#deliveries.count(
      CancellationScope.nonCancellable(() => operation.signal(controlSignal, this.#control())),
    );
  }

  /** Whether this run should give way, and can: nobody waits for an answer, and everything that it sent has arrived. */
  #mayContinue(): boolean {
    return (isLong() || this.#cancelled) && this.#deliveries.areDone;
  }

  /** As {@link #mayContinue}, while an operation is under way that has not told its end. */
  #mayContinueBeside(): boolean {
    return isLongBesideOperation() && this.#deliveries.areDone && this.#state.ending === undefined;
  }

  #continueAsNew(): Promise<never> {
    return continueAsNew<typeof etcdCluster>({ ...this.#ref, carried: carriedOf(this.#state) });
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

/** The id of the one operation of an entity: Temporal's uniqueness of ids is the lock. */
function slotOf(entity: string): string {
  return `${entity}/operation`;
}
