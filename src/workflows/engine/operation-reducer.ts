/**
 * The interpreter of operations: it has the first step of a plan performed, has the world looked at again, and goes on with
 * the plan that comes back, for as long as that is still the same operation. It knows nothing of etcd or Kubernetes.
 */
import type { Facts, Transition } from './machine.ts';
import type {
  OperationEffect,
  OperationEvent,
  OperationKind,
  OperationRules,
  Outcome,
  Run,
  StepOutcome,
} from './operation.ts';
import { SHORT_MS, TRIES } from './repeats.ts';

type To<K extends OperationKind> = Transition<Run<K>, OperationEffect<K>>;

interface At<K extends OperationKind> {
  readonly rules: OperationRules<K>;
  readonly facts: Facts;
}

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
        return advance(rules, { ...run, beganAt: facts.now });
      case 'performed':
        return run.phase === 'performing' ? performed({ rules, facts }, run, event.outcome) : [run, []];
      case 'looked':
        return run.phase === 'looking' ? looked({ rules, facts }, run, event.assessment) : [run, []];
      case 'timer':
        return run.phase === 'waiting'
          ? advance(rules, { ...run, wakeAt: undefined, beganAt: facts.now })
          : [run, []];
      case 'control':
        return controlled(rules, run, event.control);
      case 'acknowledged':
        return [run.phase === 'finishing' ? { ...run, phase: 'finished' } : run, []];
    }
  };
}

/** An abort stays: it may have come by another way, such as a cancellation. */
function controlled<K extends OperationKind>(
  rules: OperationRules<K>,
  run: Run<K>,
  control: K['Control'],
): To<K> {
  const next = { ...run, control: { ...control, abort: control.abort ?? run.control.abort } };
  if (next.control.abort === undefined) return [next, []];
  if (run.phase === 'waiting') return advance(rules, { ...next, wakeAt: undefined });
  const isNew = run.control.abort === undefined;
  return [next, rules.interrupts && isNew && run.phase === 'performing' ? [{ kind: 'interrupt' }] : []];
}

/** The next step, or a look in its place while it is paused: what was opened is closed all the same. */
function advance<K extends OperationKind>(rules: OperationRules<K>, run: Run<K>): To<K> {
  const { abort, paused } = run.control;
  if (abort !== undefined) return finish(run, { outcome: 'aborted', by: abort }, run.assessment);
  if (paused !== undefined && run.decision.closes === undefined)
    return look(rules, { ...run, done: undefined, refusals: 0 });
  return [{ ...run, phase: 'performing' }, [{ kind: 'perform', decision: run.decision }]];
}

function look<K extends OperationKind>(rules: OperationRules<K>, run: Run<K>): To<K> {
  return [{ ...run, phase: 'looking' }, [{ kind: 'look', actor: rules.actor(run.control, run.used) }]];
}

function performed<K extends OperationKind>({ rules, facts }: At<K>, run: Run<K>, done: StepOutcome): To<K> {
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
  return goesOn(next, done) ? goOn({ rules, facts }, next) : look(rules, next);
}

/** Whether what was planned to follow a step may be done without a look: the step is done, and people asked for nothing meanwhile. */
function goesOn<K extends OperationKind>({ control }: Run<K>, done: StepOutcome): boolean {
  const isDone = done.kind === 'done' && !done.hasWaited && done.isHeldUp !== true;
  return isDone && control.abort === undefined && control.paused === undefined;
}

/** The step that was planned to follow this one, or a look when there is none. */
function goOn<K extends OperationKind>({ rules, facts }: At<K>, run: Run<K>): To<K> {
  const { decision, planned } = run;
  const { following: [next, ...following] = [], plan } = decision;
  if (next !== undefined) {
    if (!facts.mayFollow()) return look(rules, run);
    const further = { ...next, following, ...(plan && { plan: plan.slice(1) }), approval: undefined };
    return advance(rules, { ...run, decision: { ...decision, ...further } });
  }
  // Nothing is left of the plan: whether all of it came about is seen by the entity's next pass, which follows. One step alone is looked
  // at, so that repeats are counted.
  const isWhole = planned.step !== decision.step && plan?.length === 1;
  return isWhole ? finish(run, { outcome: 'ended' }, undefined) : look(rules, run);
}

function looked<K extends OperationKind>(
  { rules, facts }: At<K>,
  run: Run<K>,
  assessment: K['Assessment'],
): To<K> {
  const next = rules.next(run.decision, assessment);
  if (next === undefined) return finish(run, { outcome: 'ended' }, assessment);
  if (rules.handsBack && facts.history === 'veryLong' && run.control.abort === undefined)
    return finish(run, { outcome: 'handedBack' }, assessment);
  const repeats = rules.countsRepeats ? repeatsOf(run, next) : 0;
  const after = { ...run, assessment, decision: next, planned: next, repeats };
  const reporting = ([state, effects]: To<K>): To<K> => [
    state,
    [{ kind: 'report', assessment, used: run.used }, ...effects],
  ];
  if (repeats >= TRIES) {
    const message = `"${rules.summary(run.planned)}" was performed ${repeats} times without reaching its goal`;
    return reporting(finish(after, { outcome: 'failed', message, step: run.planned.step.kind }, assessment));
  }
  if (repeats === 0 || after.control.abort !== undefined) return reporting(advance(rules, after));
  if (facts.now - run.beganAt > SHORT_MS && rules.countsUndone(next) && facts.mayHandBack()) {
    const message = `"${rules.summary(next)}" was performed again and again without reaching its goal`;
    return reporting(finish(after, { outcome: 'handedBack', message, step: next.step.kind }, assessment));
  }
  // Whatever keeps it from taking effect may pass; asking at once again would only load the API server.
  return reporting([{ ...after, phase: 'waiting', wakeAt: facts.now + repeats * 1_000 }, []]);
}

/** How often in a row a step was done and is planned again all the same. One that has waited may wait again. */
function repeatsOf<K extends OperationKind>({ done, planned, repeats }: Run<K>, next: K['Decision']): number {
  const hasEnded = done?.kind === 'done' && !done.hasWaited;
  return hasEnded && JSON.stringify(planned.step) === JSON.stringify(next.step) ? repeats + 1 : 0;
}

function finish<K extends OperationKind>(
  run: Run<K>,
  outcome: Outcome,
  assessment: K['Assessment'] | undefined,
): To<K> {
  return [{ ...run, phase: 'finishing', outcome, assessment }, [{ kind: 'finish', outcome, assessment }]];
}
