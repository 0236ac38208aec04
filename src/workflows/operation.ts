/**
 * The interpreter of operations. It knows nothing of etcd or Kubernetes: it has the first step of a plan performed,
 * has the world looked at again, and goes on with the plan that comes back, for as long as that is still the same
 * operation. One workflow type for each operation, so that each is found by its name; one interpreter for all.
 */
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { Actor, Assessment, Decision, Operation, Step } from '../activities/index.ts';
import { operationDetails } from './details.ts';
import { isLong } from './long-history.ts';
import {
  type Control,
  controlSignal,
  type Ending,
  type Progress,
  progressSignal,
  type ResourceRef,
} from './messages.ts';
import { assess, perform, type StepOutcome } from './perform.ts';
import { isControl } from './shapes.ts';

type Operate = Extract<Decision, { kind: 'operate' }>;

export interface OperationInput {
  readonly ref: ResourceRef;
  /** The workflow id of the entity that asked. */
  readonly entity: string;
  readonly decision: Operate;
  readonly control: Control;
}

/** How it ended, and what the last pass saw, if there was one. */
export type OperationResult = Ending & { readonly assessment?: Assessment };

/** A plan whose first step the world refuses, or leaves as it is, this often in a row is not getting anywhere. */
const TRIES = 5;

async function interpret(input: OperationInput): Promise<OperationResult> {
  let { control } = input;
  setHandler(controlSignal, sent => {
    if (isControl(sent)) control = { ...sent, abort: sent.abort ?? control.abort };
    else log.warn('a signal was refused: only entities send it', { signal: 'control' });
  });
  // Cancelling in the UI is asking to abort: the step under way is finished, nothing is left half done.
  CancellationScope.current().cancelRequested.catch(() => {
    control = { ...control, abort: { by: 'cancellation of the workflow' } };
  });
  return CancellationScope.nonCancellable(async () => {
    const used: number[] = [];
    const { assessment, ...outcome } = await run(input, { control: () => control, used });
    const result = { operation: input.decision.operation, ...outcome, ...(assessment && { assessment }) };
    // Waited for: the server drops a signal of a workflow that completes with the same task.
    await tellEntity(input.entity, {
      ...(assessment && { assessment }),
      ending: { operation: result.operation, ...outcome },
      ...(used.length > 0 && { used }),
    });
    return result;
  });
}

/** What people asked for, and the approvals that were used up on the way. */
interface People {
  readonly control: () => Control;
  readonly used: number[];
}

async function run(
  input: OperationInput,
  { control, used }: People,
): Promise<Omit<OperationResult, 'operation'>> {
  let decision = input.decision;
  let assessment: Assessment | undefined;
  const patience = new Patience();
  const tell = teller(input.entity);
  for (;;) {
    const { abort, paused } = control();
    if (abort !== undefined) return { outcome: 'aborted', by: abort, ...(assessment && { assessment }) };
    setCurrentDetails(operationDetails(decision));
    const done =
      paused === undefined ? await perform(input.ref, decision.step, summaryOf(decision)) : undefined;
    // Only of a step that was refused before it began it is certain that nothing came of it.
    if (decision.approval !== undefined && done !== undefined && done.kind !== 'changed')
      used.push(decision.approval);
    const failure = patience.failureOf(done);
    if (failure !== undefined) return { outcome: 'failed', message: failure, step: decision.step.kind };
    assessment = await assess(input.ref, actorOf(control(), used), input.entity);
    const next = assessment.decision;
    if (next.kind !== 'operate' || next.operation !== input.decision.operation)
      return { outcome: 'ended', assessment };
    if (givesWay(control())) return { outcome: 'handedBack', assessment };
    tell({ assessment, ...(used.length > 0 && { used: [...used] }) });
    const repeats = patience.repeatsOf(done, decision.step, next.step);
    if (repeats >= TRIES) {
      const message = `"${summaryOf(decision)}" was done ${repeats} times and is still to be done`;
      return { outcome: 'failed', message, step: decision.step.kind, assessment };
    }
    // Whatever keeps it from taking effect may pass; asking at once again would only load the API server.
    if (repeats > 0) await condition(() => control().abort !== undefined, repeats * 1_000);
    decision = next;
  }
}

/** Whether the entity is to start it again with a history of its own; an abort ends it before that. */
function givesWay({ abort }: Control): boolean {
  return isLong() && abort === undefined;
}

/** Counts what is not getting anywhere. */
class Patience {
  #refusals = 0;
  #repeats = 0;

  /** Why the operation is given up: a step failed, or the world has moved away from the plan again and again. */
  failureOf(done: StepOutcome | undefined): string | undefined {
    if (done?.kind === 'failed') return done.message;
    this.#refusals = done?.kind === 'changed' ? this.#refusals + 1 : 0;
    return done?.kind === 'changed' && this.#refusals >= TRIES ? done.message : undefined;
  }

  /** How often in a row a step was done and is planned again all the same. One that has waited may wait again. */
  repeatsOf(done: StepOutcome | undefined, step: Step, next: Step): number {
    const hasEnded = done?.kind === 'done' && !done.hasWaited;
    this.#repeats = hasEnded && JSON.stringify(step) === JSON.stringify(next) ? this.#repeats + 1 : 0;
    return this.#repeats;
  }
}

function summaryOf({ plan, step }: Operate): string {
  return plan[0]?.summary ?? step.kind;
}

function actorOf(
  { paused, approvals = [], requests, aborted, failed }: Control,
  used: readonly number[],
): Actor {
  const left = approvals.filter(({ id }) => !used.includes(id));
  return {
    ...(paused && { paused }),
    ...(left.length > 0 && { approvals: left }),
    ...(requests && { requests }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
  };
}

/** Tells the entity of progress, unless it was told the very same: a step that waits is looked at many times. */
function teller(entity: string): (progress: Progress) => void {
  let told = '';
  return progress => {
    const now = JSON.stringify(progress);
    if (now !== told) void tellEntity(entity, progress);
    told = now;
  };
}

/** Never rejects: the entity may be gone, and nothing here depends on it. */
function tellEntity(entity: string, progress: Progress): Promise<void> {
  return getExternalWorkflowHandle(entity)
    .signal(progressSignal, progress)
    .catch(() => undefined);
}

/** Creates a cluster, from its recorded incarnation to an open client Service. */
export async function createCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Puts a backup in the place of a cluster's data: from the fencing of the old members to the opened client Service. */
export async function restoreCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Puts back what went missing: Services, the budget, pods of members whose volumes are there. */
export async function repairCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Adds or removes members, one at a time, until there are as many as asked for. */
export async function scaleCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Removes a member whose data is proved lost and brings a new one up in its place. */
export async function replaceMember(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Brings a changed specification to the members: larger claims, and new pods on their volumes one at a time. */
export async function rolloutCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Hands leadership to the member that somebody asked for. */
export async function moveLeader(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Brings another version of etcd to the members, one at a time, through every minor on the way. */
export async function upgradeCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Stops every member; claims, Services and identity stay. */
export async function hibernateCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Starts the members of a hibernated cluster on their volumes. */
export async function wakeCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Takes a cluster down: pods, then claims as `storage.retain` says, then the finalizer. */
export async function deleteCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** The workflow types above, by operation. */
export const OPERATION_WORKFLOWS: Record<Operation, typeof createCluster> = {
  createCluster,
  restoreCluster,
  repairCluster,
  scaleCluster,
  replaceMember,
  rolloutCluster,
  moveLeader,
  upgradeCluster,
  hibernateCluster,
  wakeCluster,
  deleteCluster,
};
