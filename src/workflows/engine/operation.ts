/** What an operation is made of: its state, its events, its effects, and what each kind of operation adds. */
import type { Request } from '../../api/values/requests.ts';

/** A decision that asks for something to be done, as far as the engine needs it. */
export interface Operate {
  readonly kind: 'operate';
  readonly operation: string;
  readonly step: { readonly kind: string };
  /** The approval that its step uses. */
  readonly approval?: number | string;
  /** What follows its step without another look: the step, and whatever goes with it (planner/model/decision.ts). */
  readonly following?: readonly Following[];
  readonly plan?: readonly unknown[];
  /** It gives back what was taken: a pause begins after it (planner/model/decision.ts). */
  readonly closes?: true;
}

/** A step that was planned together with the one before it. */
interface Following {
  readonly step: { readonly kind: string };
}

/** The outcome of a step that did not fail, from what its activity answered. */
export function doneWith(answer: unknown): StepOutcome {
  return { kind: 'done', hasWaited: answer === 'notYet', isHeldUp: answer === 'trouble' };
}

/** What people asked for, as far as the engine needs it. */
export interface ControlLike {
  readonly paused?: Request | undefined;
  readonly abort?: Request | undefined;
}

/** The types of one kind of operation. */
export interface OperationKind {
  readonly Decision: Operate;
  readonly Assessment: { readonly decision: { readonly kind: string } };
  readonly Actor: unknown;
  readonly Control: ControlLike;
}

/** How a step went: done, its precondition had changed, it failed with this message, or it was interrupted. */
export type StepOutcome =
  /**
   * `hasWaited`: it waits, and has waited as long as a step does for something that is still to come. `isHeldUp`: something is in its
   * way that waiting does not mend.
   */
  | { readonly kind: 'done'; readonly hasWaited: boolean; readonly isHeldUp?: boolean }
  | { readonly kind: 'changed' | 'failed' | 'interrupted'; readonly message: string };

/**
 * How an operation ended. `ended`: the last pass planned no more of it (done, blocked, or something else comes first:
 * its decision says which). `handedBack`: the history grew long, or its step has to be done again and has to wait; the entity starts it
 * again.
 */
export interface Outcome {
  readonly outcome: 'ended' | 'aborted' | 'failed' | 'handedBack';
  /** Why it failed, or what has to be done again. */
  readonly message?: string;
  /** The kind of the step that failed, or has to be done again. */
  readonly step?: string;
  /** Who aborted it. */
  readonly by?: Request;
}

export interface Run<K extends OperationKind> {
  readonly phase: 'performing' | 'looking' | 'waiting' | 'finishing' | 'finished';
  /** What is done now: what was planned, or what follows it. */
  readonly decision: K['Decision'];
  /** What the last pass planned. */
  readonly planned: K['Decision'];
  readonly control: K['Control'];
  /** Approvals that were used up on the way. */
  readonly used: readonly (number | string)[];
  /** The last pass. */
  readonly assessment: K['Assessment'] | undefined;
  /** How the last step went; undefined: none was performed, it is paused. */
  readonly done: StepOutcome | undefined;
  readonly refusals: number;
  readonly repeats: number;
  readonly wakeAt: number | undefined;
  /** When the run began, or went on after it had waited. Milliseconds since the epoch, as `wakeAt`. */
  readonly beganAt: number;
  readonly outcome: Outcome | undefined;
}

export type OperationEvent<K extends OperationKind> =
  | { readonly kind: 'begin' | 'timer' }
  | { readonly kind: 'performed'; readonly outcome: StepOutcome }
  | { readonly kind: 'looked'; readonly assessment: K['Assessment'] }
  | { readonly kind: 'control'; readonly control: K['Control'] }
  /** Its entity has received the result, or does not exist. */
  | { readonly kind: 'acknowledged' };

export type OperationEffect<K extends OperationKind> =
  | { readonly kind: 'perform'; readonly decision: K['Decision'] }
  /** The step under way is ended in the middle. */
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'look'; readonly actor: K['Actor'] }
  | {
      readonly kind: 'report';
      readonly assessment: K['Assessment'];
      readonly used: readonly (number | string)[];
    }
  /** Sends the result to the entity; answered by `acknowledged`. */
  | { readonly kind: 'finish'; readonly outcome: Outcome; readonly assessment: K['Assessment'] | undefined };

/** What one kind of operation adds. Pure. */
export interface OperationRules<K extends OperationKind> {
  /** An abort ends the step under way; otherwise it takes effect when that has ended. */
  readonly interrupts: boolean;
  /** A run with a long history is started again by its entity. */
  readonly handsBack: boolean;
  /** A step that was done and is planned again is no progress. */
  readonly countsRepeats: boolean;
  /** Whether its entity has a step like this wait that was done and is to be done again, and counts how often (Rules.repeats). */
  countsUndone(decision: K['Decision']): boolean;
  actor(control: K['Control'], used: readonly (number | string)[]): K['Actor'];
  /** The decision to go on with, when it is of the same operation. */
  next(decision: K['Decision'], assessment: K['Assessment']): K['Decision'] | undefined;
  /** Whether the operation is over with a step that was done. */
  isOver(decision: K['Decision']): boolean;
  /** The description of the step in the Temporal UI. */
  summary(decision: K['Decision']): string;
}

export function newRun<K extends OperationKind>(decision: K['Decision'], control: K['Control']): Run<K> {
  return {
    phase: 'performing',
    decision,
    planned: decision,
    control,
    used: [],
    assessment: undefined,
    done: undefined,
    refusals: 0,
    repeats: 0,
    wakeAt: undefined,
    beganAt: 0,
    outcome: undefined,
  };
}
