/**
 * An operation of a cluster: step → pass → next step, for as long as passes plan the same operation. It knows nothing of etcd or Kubernetes,
 * and nothing of Temporal.
 */
import type { WorkflowState, Assessment, Decision } from '../activities/index.ts';
import type { Request } from '../api/values/requests.ts';
import { waitingOperation } from '../api/values/waiting-operation.ts';
import type { Host } from './host.ts';
import { answered, type FailedPass, type PassHost, type PassState } from './passes.ts';
import { isPutBack, SHORT_MS, TRIES } from './repeats.ts';

type Approval = NonNullable<WorkflowState['approvals']>[number];

export type Work = Extract<Decision, { kind: 'operate' }>;

/** How a step went: done, its precondition had changed, it failed with this message, or it was interrupted. */
export type StepOutcome =
  /**
   * `hasWaited`: it waits, and has waited as long as a step does for something that is still to come. `isHeldUp`: something is in its
   * way that waiting does not mend.
   */
  | { readonly kind: 'done'; readonly hasWaited: boolean; readonly isHeldUp?: boolean }
  | { readonly kind: 'changed' | 'failed' | 'interrupted'; readonly message: string };

/** The outcome of a step that did not fail, from what its activity answered. */
export function doneWith(answer: unknown): StepOutcome {
  return { kind: 'done', hasWaited: answer === 'notYet', isHeldUp: answer === 'trouble' };
}

/** What an operation was asked for while it is under way (see `Ask`). */
export interface Asked {
  abort: Request | undefined;
  handOver: boolean;
  follow: boolean;
  /** Ends the step under way, where a step may be ended in the middle. */
  interrupt: (() => void) | undefined;
}

export function noUserRequests(): Asked {
  return { abort: undefined, handOver: false, follow: false, interrupt: undefined };
}

/** The first abort counts. */
export function abortOperation(asked: Asked, request: Request): void {
  asked.abort ??= request;
  asked.interrupt?.();
}

/**
 * How an operation ended. `ended`: the last pass planned no more of it (done, blocked, or something else comes first: its decision says
 * which). `handedBack`: a person asked for something, the history grew long, or its step has to be done again and has to wait; the next pass
 * of the resource may start it again.
 */
export interface Outcome {
  readonly outcome: 'ended' | 'aborted' | 'failed' | 'handedBack';
  /** Why it failed, or what has to be done again. */
  readonly message?: string;
  /** The kind of the step that failed, or has to be done again. */
  readonly step?: string;
  /** Who aborted it. */
  readonly by?: Request;
  /** Approvals that were used up. */
  readonly used?: readonly Approval['id'][];
}

/** An outcome, and what the last pass saw, if one was made since the last step. */
export type Ended = Outcome & { readonly assessment?: Assessment };

export interface OperationHost extends Pick<Host, 'now' | 'wait' | 'history'>, PassHost {
  /** A pass. @param used approvals that were used up */
  pass(used: readonly Approval['id'][]): Promise<Assessment | FailedPass>;
  perform(work: Work): Promise<StepOutcome>;
}

export async function runOperation(first: Work, asked: Asked, host: OperationHost): Promise<Ended> {
  const used: Approval['id'][] = [];
  const end = (outcome: Ended): Ended => ({ ...outcome, ...(used.length > 0 && { used }) });
  let work = first;
  const passing: PassState = { passFailing: undefined };
  let refusals = 0;
  let repeats = 0;
  for (;;) {
    if (asked.abort !== undefined) return end({ outcome: 'aborted', by: asked.abort });
    if (asked.handOver) return end({ outcome: 'handedBack' });
    const beganAt = host.now();
    const performed = await performTogether({ work, asked, used }, host);
    refusals = performed.done.kind === 'changed' ? refusals + 1 : 0;
    const over = afterStep(performed, refusals, asked);
    if (over !== undefined) return end(over);

    const assessment = await passUntilAnswered({ passing, asked, used }, host);
    if (assessment === undefined) return end(withoutPass(asked));
    const next = sameOperation(work, assessment);
    if (asked.abort !== undefined && isLeft(work, assessment))
      return end({ outcome: 'aborted', by: asked.abort, assessment });
    if (next === undefined) return end({ outcome: 'ended', assessment });
    if (asked.handOver || host.history() === 'veryLong') return end({ outcome: 'handedBack', assessment });

    repeats = isRepeated(work, performed.done, next) ? repeats + 1 : 0;
    if (repeats > 0) {
      const vain = inVain(next, repeats, host.now() - beganAt);
      if (vain !== undefined) return end({ ...vain, assessment });
      // Whatever keeps it from taking effect may pass; asking at once again would only load the API server.
      await host.wait(() => asked.abort !== undefined || asked.handOver, host.now() + repeats * 1_000);
    }
    work = next;
  }
}

interface Passing {
  readonly passing: PassState;
  readonly asked: Asked;
  readonly used: readonly Approval['id'][];
}

/** Makes passes until one succeeds; undefined: somebody asks for something meanwhile, or the history has grown long. */
async function passUntilAnswered(
  { passing, asked, used }: Passing,
  host: OperationHost,
): Promise<Assessment | undefined> {
  const isAsked = () => asked.abort !== undefined || asked.handOver;
  for (;;) {
    const assessment = await answered(passing, host, () => host.pass(used));
    if (assessment !== undefined) return assessment;
    if (isAsked() || host.history() !== 'short') return undefined;
    await host.wait(isAsked, passing.passFailing?.retryAt);
  }
}

/** How an operation ends whose last pass failed. */
function withoutPass({ abort }: Asked): Outcome {
  return abort === undefined ? { outcome: 'handedBack' } : { outcome: 'aborted', by: abort };
}

/** How an operation ends after its step without another pass; undefined: it does not. */
function afterStep({ done, step, isWhole }: Performed, refusals: number, asked: Asked): Outcome | undefined {
  if (done.kind === 'failed' || (done.kind === 'changed' && refusals === TRIES))
    return { outcome: 'failed', message: done.message, step };
  // A pass says whether there is anything left to abort.
  if (asked.abort !== undefined) return undefined;
  if (asked.handOver) return { outcome: 'handedBack' };
  // Whether all of it came about is seen by the pass of the resource, which follows.
  return isWhole ? { outcome: 'ended' } : undefined;
}

/** How an operation ends whose step was performed so often in a row without effect, the last time for so long; undefined: it does not. */
function inVain(next: Work, repeats: number, tookMs: number): Outcome | undefined {
  const { kind: step } = next.step;
  const why = (often: string) => `"${summaryOf(next)}" was performed ${often} without reaching its goal`;
  if (repeats === TRIES) return { outcome: 'failed', step, message: why(`${TRIES} times`) };
  // The workflow of the resource counts how often, and has it wait.
  if (isPutBack(next.step) && tookMs > SHORT_MS)
    return { outcome: 'handedBack', step, message: why('again and again') };
  return undefined;
}

interface Performing {
  readonly work: Work;
  readonly asked: Asked;
  readonly used: Approval['id'][];
}

interface Performed {
  readonly done: StepOutcome;
  /** The kind of the last step. */
  readonly step: string;
  /** Several were performed, and nothing is left of the plan. */
  readonly isWhole: boolean;
}

/**
 * Performs a step, and those that were planned to follow it without a pass between them, until something is in the way or somebody asks for
 * something.
 */
async function performTogether(
  { work: first, asked, used }: Performing,
  host: OperationHost,
): Promise<Performed> {
  for (let work = first; ; ) {
    const done = await host.perform(work);
    const { approval, following = [], ...rest } = work;
    // Only of a step that was refused before it began it is certain that nothing came of it.
    if (approval !== undefined && done.kind !== 'changed') used.push(approval);
    const [next, ...further] = following;
    const isDone = done.kind === 'done' && !done.hasWaited && done.isHeldUp !== true;
    if (next === undefined || !isDone || asked.abort !== undefined || asked.handOver) {
      const isWhole = isDone && work !== first && work.plan.length === 1;
      return { done, step: work.step.kind, isWhole };
    }
    work = { ...rest, ...next, following: further, plan: work.plan.slice(1) };
  }
}

/** What a pass of an operation takes: what users asked for when it began, without the approvals that it has used up. */
export function stateForOperation(
  began: WorkflowState,
  used: readonly Approval['id'][],
  ran: WorkflowState['ran'],
): WorkflowState {
  const { approvals = [], spent = [], takesOver: _, ...others } = began;
  const left = approvals.filter(({ id }) => !used.includes(id));
  const uids = [...spent, ...used.filter(id => typeof id === 'string')];
  return {
    ...others,
    used,
    ...(left.length > 0 && { approvals: left }),
    ...(uids.length > 0 && { spent: uids }),
    ...(ran && { ran }),
  };
}

/** What a pass plans, when it is still the same operation. */
function sameOperation({ operation }: Work, { decision }: Assessment): Work | undefined {
  return decision.kind === 'operate' && decision.operation === operation ? decision : undefined;
}

/** Whether anything is left of the operation that can be aborted: a step of it, or it is only held up. */
function isLeft({ operation }: Work, { decision }: Assessment): boolean {
  const left = decision.kind === 'operate' ? decision : waitingOperation(decision);
  return left?.operation === operation;
}

/** Whether a step was done and is planned again all the same. One that has waited may wait again. */
function isRepeated(work: Work, done: StepOutcome, next: Work): boolean {
  const hasEnded = done.kind === 'done' && !done.hasWaited;
  return hasEnded && JSON.stringify(work.step) === JSON.stringify(next.step);
}

/** The description of a step for users. */
export function summaryOf({ plan, step }: Work): string {
  return plan[0]?.summary ?? step.kind;
}
