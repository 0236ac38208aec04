/**
 * The interpreter of operations: it has the first step of a plan performed, has the world looked at again, and goes on with
 * the plan that comes back, for as long as that is still the same operation. It knows nothing of etcd or Kubernetes.
 */
import type { Facts, Transition } from './machine.ts';

/** A plan whose first step the world refuses, or leaves as it is, this often in a row is not getting anywhere. */
const TRIES = 5;

/** A decision that asks for something to be done, as far as it is looked at here. */
export interface Operate {
  readonly kind: 'operate';
  readonly operation: string;
  readonly step: { readonly kind: string };
  /** The approval that its step uses. */
  readonly approval?: number;
}

/** Who asked for something, and why. */
interface Asker {
  readonly by?: string;
  readonly reason?: string;
}

/** What people asked for, as far as it is looked at here. */
export interface ControlLike {
  readonly paused?: Asker | undefined;
  readonly abort?: Asker | undefined;
}

/** The types of one kind of operation. */
export interface OperationKind {
  readonly Decision: Operate;
  readonly Assessment: { readonly decision: { readonly kind: string } };
  readonly Actor: unknown;
  readonly Control: ControlLike;
}

/** How a step went: done, the world had moved, it failed with this message, or it was ended in the middle. */
export type StepOutcome =
  /** `hasWaited`: it waits, and has waited as long as a step does for something that is still to come. */
  | { readonly kind: 'done'; readonly hasWaited: boolean }
  | { readonly kind: 'changed' | 'failed' | 'interrupted'; readonly message: string };

/**
 * How an operation ended. `ended`: the last pass planned no more of it (done, blocked, or something else comes first:
 * its decision says which). `handedBack`: the history grew long, the entity starts it again.
 */
export interface Outcome {
  readonly outcome: 'ended' | 'aborted' | 'failed' | 'handedBack';
  /** Why it failed. */
  readonly message?: string;
  /** The kind of the step that failed. */
  readonly step?: string;
  /** Who aborted it. */
  readonly by?: Asker;
}

export interface Run<K extends OperationKind> {
  readonly phase: 'performing' | 'looking' | 'waiting' | 'finishing' | 'finished';
  readonly decision: K['Decision'];
  readonly control: K['Control'];
  /** Approvals that were used up on the way. */
  readonly used: readonly number[];
  /** The last pass. */
  readonly assessment: K['Assessment'] | undefined;
  /** How the last step went; undefined: none was performed, it is paused. */
  readonly done: StepOutcome | undefined;
  readonly refusals: number;
  readonly repeats: number;
  readonly wakeAt: number | undefined;
  readonly outcome: Outcome | undefined;
}

export type OperationEvent<K extends OperationKind> =
  | { readonly kind: 'begin' | 'timer' }
  | { readonly kind: 'performed'; readonly outcome: StepOutcome }
  | { readonly kind: 'looked'; readonly assessment: K['Assessment'] }
  | { readonly kind: 'control'; readonly control: K['Control'] }
  /** Its entity heard how it ends, or is not there. */
  | { readonly kind: 'told' };

export type OperationEffect<K extends OperationKind> =
  | { readonly kind: 'perform'; readonly decision: K['Decision'] }
  /** The step under way is ended in the middle. */
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'look'; readonly actor: K['Actor'] }
  | { readonly kind: 'report'; readonly assessment: K['Assessment']; readonly used: readonly number[] }
  /** Tells the entity how it ends; answered by `told`. */
  | { readonly kind: 'finish'; readonly outcome: Outcome; readonly assessment: K['Assessment'] | undefined };

/** What one kind of operation adds. Pure. */
export interface OperationRules<K extends OperationKind> {
  /** An abort ends the step under way; otherwise it takes effect when that has ended. */
  readonly interrupts: boolean;
  /** A run with a long history is started again by its entity. */
  readonly handsBack: boolean;
  /** A step that was done and is planned again is no progress. */
  readonly countsRepeats: boolean;
  actor(control: K['Control'], used: readonly number[]): K['Actor'];
  /** The decision to go on with, when it is of the same operation. */
  next(decision: K['Decision'], assessment: K['Assessment']): K['Decision'] | undefined;
  /** Whether the operation is over with a step that was done. */
  isOver(decision: K['Decision']): boolean;
  /** The line that people read for the step. */
  summary(decision: K['Decision']): string;
}

export function newRun<K extends OperationKind>(decision: K['Decision'], control: K['Control']): Run<K> {
  return {
    phase: 'performing',
    decision,
    control,
    used: [],
    assessment: undefined,
    done: undefined,
    refusals: 0,
    repeats: 0,
    wakeAt: undefined,
    outcome: undefined,
  };
}

type To<K extends OperationKind> = Transition<Run<K>, OperationEffect<K>>;

/** How an operation of a kind meets an event. */
export type OperationReducer<K extends OperationKind> = (
  run: Run<K>,
  event: OperationEvent<K>,
  facts: Facts,
) => To<K>;

export function operationReducer<K extends OperationKind>(rules: OperationRules<K>): OperationReducer<K> {
  return (run, event, facts) => {
    switch (event.kind) {
      case 'begin':
        return advance(rules, run);
      case 'performed':
        return run.phase === 'performing' ? performed(rules, run, event.outcome) : [run, []];
      case 'looked':
        return run.phase === 'looking' ? looked({ rules, facts }, run, event.assessment) : [run, []];
      case 'timer':
        return run.phase === 'waiting' ? advance(rules, { ...run, wakeAt: undefined }) : [run, []];
      case 'control':
        return told(rules, run, event.control);
      case 'told':
        return [run.phase === 'finishing' ? { ...run, phase: 'finished' } : run, []];
    }
  };
}

/** An abort stays: it may have come by another way, such as a cancellation. */
function told<K extends OperationKind>(rules: OperationRules<K>, run: Run<K>, control: K['Control']): To<K> {
  const next = { ...run, control: { ...control, abort: control.abort ?? run.control.abort } };
  if (next.control.abort === undefined) return [next, []];
  if (run.phase === 'waiting') return advance(rules, { ...next, wakeAt: undefined });
  const isNew = run.control.abort === undefined;
  return [next, rules.interrupts && isNew && run.phase === 'performing' ? [{ kind: 'interrupt' }] : []];
}

/** The next step, or a look in its place while it is paused. */
function advance<K extends OperationKind>(rules: OperationRules<K>, run: Run<K>): To<K> {
  const { abort, paused } = run.control;
  if (abort !== undefined) return finish(run, { outcome: 'aborted', by: abort }, run.assessment);
  if (paused !== undefined) return look(rules, { ...run, done: undefined, refusals: 0 });
  return [{ ...run, phase: 'performing' }, [{ kind: 'perform', decision: run.decision }]];
}

function look<K extends OperationKind>(rules: OperationRules<K>, run: Run<K>): To<K> {
  return [{ ...run, phase: 'looking' }, [{ kind: 'look', actor: rules.actor(run.control, run.used) }]];
}

function performed<K extends OperationKind>(rules: OperationRules<K>, run: Run<K>, done: StepOutcome): To<K> {
  const { decision } = run;
  const { approval } = decision;
  // Only of a step that was refused before it began it is certain that nothing came of it.
  const isUsed = approval !== undefined && done.kind !== 'changed';
  const refusals = done.kind === 'changed' ? run.refusals + 1 : 0;
  const next = { ...run, done, refusals, used: isUsed ? [...run.used, approval] : run.used };
  if (done.kind === 'interrupted') return advance(rules, next);
  if (done.kind === 'failed' || (done.kind === 'changed' && refusals >= TRIES))
    return finish(next, { outcome: 'failed', message: done.message, step: decision.step.kind }, undefined);
  if (done.kind === 'done' && rules.isOver(decision)) return finish(next, { outcome: 'ended' }, undefined);
  return look(rules, next);
}

function looked<K extends OperationKind>(
  { rules, facts }: { readonly rules: OperationRules<K>; readonly facts: Facts },
  run: Run<K>,
  assessment: K['Assessment'],
): To<K> {
  const next = rules.next(run.decision, assessment);
  if (next === undefined) return finish(run, { outcome: 'ended' }, assessment);
  if (rules.handsBack && facts.history === 'veryLong' && run.control.abort === undefined)
    return finish(run, { outcome: 'handedBack' }, assessment);
  const repeats = rules.countsRepeats ? repeatsOf(run, next) : 0;
  const after = { ...run, assessment, decision: next, repeats };
  const report = { kind: 'report', assessment, used: run.used } as const;
  if (repeats >= TRIES) {
    const message = `"${rules.summary(run.decision)}" was performed ${repeats} times without reaching its goal`;
    const failed = finish(after, { outcome: 'failed', message, step: run.decision.step.kind }, assessment);
    return [failed[0], [report, ...failed[1]]];
  }
  // Whatever keeps it from taking effect may pass; asking at once again would only load the API server.
  if (repeats > 0 && after.control.abort === undefined)
    return [{ ...after, phase: 'waiting', wakeAt: facts.now + repeats * 1_000 }, [report]];
  const [state, effects] = advance(rules, after);
  return [state, [report, ...effects]];
}

/** How often in a row a step was done and is planned again all the same. One that has waited may wait again. */
function repeatsOf<K extends OperationKind>(
  { done, decision, repeats }: Run<K>,
  next: K['Decision'],
): number {
  const hasEnded = done?.kind === 'done' && !done.hasWaited;
  return hasEnded && JSON.stringify(decision.step) === JSON.stringify(next.step) ? repeats + 1 : 0;
}

function finish<K extends OperationKind>(
  run: Run<K>,
  outcome: Outcome,
  assessment: K['Assessment'] | undefined,
): To<K> {
  return [{ ...run, phase: 'finishing', outcome, assessment }, [{ kind: 'finish', outcome, assessment }]];
}
