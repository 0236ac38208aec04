/** What holds of every operation, whatever its steps come to and whatever people say meanwhile. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/workflows/engine/machine.ts';
import {
  newRun,
  type OperationEffect,
  type OperationEvent,
  type OperationKind,
  type OperationRules,
  type Run,
  type StepOutcome,
} from '../../../src/workflows/engine/operation.ts';
import { operationReducer } from '../../../src/workflows/engine/operation-reducer.ts';

interface Plain extends OperationKind {
  readonly Decision: {
    readonly kind: 'operate';
    readonly operation: string;
    readonly step: { readonly kind: string };
    readonly approval?: number;
    readonly closes?: true;
    readonly following?: readonly { readonly step: { readonly kind: string } }[];
  };
  readonly Assessment: { readonly decision: Plain['Decision'] | { readonly kind: 'idle' } };
  readonly Actor: { readonly used: readonly (number | string)[] };
}

const rules: OperationRules<Plain> = {
  interrupts: false,
  handsBack: true,
  countsRepeats: true,
  countsUndone: () => false,
  actor: (_, used) => ({ used }),
  next: (_, { decision }) => (decision.kind === 'operate' ? decision : undefined),
  isOver: () => false,
  summary: ({ step }) => step.kind,
};

const FIRST: Plain['Decision'] = { kind: 'operate', operation: 'scale', step: { kind: 'a' } };
const FACTS: Facts = {
  now: 0,
  history: 'short',
  handlersFinished: true,
  mayPause: () => true,
  mayFollow: () => true,
  mayPace: () => true,
  mayHandBack: () => true,
};

/** Runs one with these answers until it finishes or has no more of them. */
function play(
  answers: readonly (StepOutcome | Plain['Assessment'] | OperationEvent<Plain>)[],
  {
    with: of = rules,
    facts = FACTS,
    first = FIRST,
  }: { with?: OperationRules<Plain>; facts?: Facts; first?: Plain['Decision'] } = {},
) {
  let run: Run<Plain> = newRun<Plain>(first, {});
  const effects: OperationEffect<Plain>[] = [];
  const take = (event: OperationEvent<Plain>) => {
    const [next, did] = operationReducer(of)(run, event, facts);
    run = next;
    effects.push(...did);
    const busy = did.filter(({ kind }) => ['perform', 'look', 'finish'].includes(kind));
    expect(busy.length, 'one thing at a time').toBeLessThan(2);
  };
  take({ kind: 'begin' });
  for (const answer of answers) {
    if ('decision' in answer) {
      if (run.phase === 'waiting') take({ kind: 'timer' });
      take({ kind: 'looked', assessment: answer });
    } else if (['done', 'changed', 'failed', 'interrupted'].includes(answer.kind))
      take({ kind: 'performed', outcome: answer as StepOutcome });
    else take(answer as OperationEvent<Plain>);
  }
  return { run, effects, kinds: effects.map(({ kind }) => kind) };
}

const done: StepOutcome = { kind: 'done', hasWaited: false };
const changed: StepOutcome = { kind: 'changed', message: 'the world moved' };
const planned = (kind: string): Plain['Assessment'] => ({ decision: { ...FIRST, step: { kind } } });
const idle: Plain['Assessment'] = { decision: { kind: 'idle' } };

describe('an operation', () => {
  it('closes what was opened before a pause, and performs nothing else while that lasts', () => {
    const first = { ...FIRST, closes: true as const };
    const pause: OperationEvent<Plain> = { kind: 'control', control: { paused: {} } };
    const { kinds } = play(
      [pause, done, { decision: { ...first, step: { kind: 'b' } } }, done, planned('c')],
      {
        first,
      },
    );
    expect(kinds).toEqual(['perform', 'look', 'report', 'perform', 'look', 'report', 'look']);
  });

  it('performs steps with passes between them, and ends when the plan is another one', () => {
    const { run, kinds } = play([done, planned('b'), done, idle, { kind: 'acknowledged' }]);
    expect(kinds).toEqual(['perform', 'look', 'report', 'perform', 'look', 'finish']);
    expect(run).toMatchObject({ phase: 'finished', outcome: { outcome: 'ended' }, assessment: idle });
  });

  it('performs what was planned to follow without a pass, until something is in the way or people ask for something', () => {
    const chain = { ...FIRST, approval: 7, following: [{ step: { kind: 'b' } }, { step: { kind: 'c' } }] };
    const steps = (...answers: Parameters<typeof play>[0]) => {
      const { run, effects } = play(answers, { first: chain });
      const done = effects.flatMap(effect =>
        effect.kind === 'perform' ? [effect.decision.step.kind] : effect.kind,
      );
      return { done, used: run.used };
    };
    expect(steps(done, done, done)).toEqual({ done: ['a', 'b', 'c', 'look'], used: [7] });
    expect(steps(done, { kind: 'done', hasWaited: true }).done).toEqual(['a', 'b', 'look']);
    expect(steps(done, { kind: 'done', hasWaited: false, isHeldUp: true }).done).toEqual(['a', 'b', 'look']);
    expect(steps(done, changed).done).toEqual(['a', 'b', 'look']);
    expect(steps(done, { kind: 'failed', message: 'no' }).done).toEqual(['a', 'b', 'finish']);
    expect(steps({ kind: 'control', control: { paused: {} } }, done).done).toEqual(['a', 'look']);
    expect(steps({ kind: 'control', control: { abort: {} } }, done, planned('b')).done).toEqual([
      'a',
      'look',
      'report',
      'finish',
    ]);
  });

  it('looks after each step where a replica of an earlier release did, which knows of none that follow', () => {
    const first = { ...FIRST, following: [{ step: { kind: 'b' } }] };
    const facts = { ...FACTS, mayFollow: () => false };
    expect(play([done, planned('b'), done], { first, facts }).kinds).toEqual([
      'perform',
      'look',
      'report',
      'perform',
      'look',
    ]);
  });

  it('makes no progress when it plans the same again after what followed was done', () => {
    const chain = { ...FIRST, following: [{ step: { kind: 'b' } }] };
    const again: Plain['Assessment'] = { decision: chain };
    const held: StepOutcome = { kind: 'done', hasWaited: false, isHeldUp: true };
    const rounds = Array.from({ length: 9 }, () => [done, held, again, { kind: 'timer' } as const]).flat();
    expect(play(rounds, { first: chain }).run.outcome).toMatchObject({ outcome: 'failed', step: 'a' });
  });

  it('fails with its step, and when a precondition has changed five times', () => {
    const failed = play([{ kind: 'failed', message: 'no' }]);
    expect(failed.run.outcome).toEqual({ outcome: 'failed', message: 'no', step: 'a' });
    const four = play([changed, planned('a'), changed, planned('a'), changed, planned('a'), changed]);
    expect(four.run.outcome).toBeUndefined();
    const five = play(Array.from({ length: 5 }, () => [changed, planned('a')]).flat());
    expect(five.run.outcome).toEqual({ outcome: 'failed', message: 'the world moved', step: 'a' });
  });

  it('fails when a step is done five times and still planned; one that has waited may wait again', () => {
    const rounds = (outcome: StepOutcome) =>
      play(Array.from({ length: 9 }, () => [outcome, planned('a'), { kind: 'timer' } as const]).flat());
    expect(rounds(done).run.outcome?.message).toBe('"a" was performed 5 times without reaching its goal');
    expect(rounds({ kind: 'done', hasWaited: true }).run.outcome).toBeUndefined();
  });

  it('hands a step back that has to be done again and took long, where its entity has it wait', () => {
    const undone: OperationRules<Plain> = { ...rules, countsUndone: () => true };
    /** Its time goes on by so much between beginning and end. */
    const outcomeOf = (tookMs: number, { with: of = undone, mayHandBack = true, abort = false } = {}) => {
      const facts: Facts = { ...FACTS, now: tookMs, mayHandBack: () => mayHandBack };
      const reduce = operationReducer(of);
      let [run] = reduce(newRun<Plain>(FIRST, {}), { kind: 'begin' }, FACTS);
      [run] = reduce(run, { kind: 'performed', outcome: done }, facts);
      if (abort) [run] = reduce(run, { kind: 'control', control: { abort: { by: 'ana' } } }, facts);
      [run] = reduce(run, { kind: 'looked', assessment: planned('a') }, facts);
      return run.outcome;
    };
    expect(outcomeOf(1_001)).toMatchObject({ outcome: 'handedBack', step: 'a' });
    expect(outcomeOf(1_000)).toBeUndefined();
    expect(outcomeOf(1_001, { with: rules })).toBeUndefined();
    expect(outcomeOf(1_001, { abort: true })).toMatchObject({ outcome: 'aborted' });
    expect(outcomeOf(1_001, { mayHandBack: false })).toBeUndefined();
  });

  it('is aborted at the next step, or in the middle where its kind allows that', () => {
    const abort: OperationEvent<Plain> = { kind: 'control', control: { abort: { by: 'ana' } } };
    const later = play([abort, done, planned('b')]);
    expect(later.kinds).toEqual(['perform', 'look', 'report', 'finish']);
    expect(later.run.outcome).toEqual({ outcome: 'aborted', by: { by: 'ana' } });
    const now = play([abort, { kind: 'interrupted', message: '' }], { with: { ...rules, interrupts: true } });
    expect(now.kinds).toEqual(['perform', 'interrupt', 'finish']);
  });

  it('keeps an abort that a later message does not repeat', () => {
    const { run } = play([
      { kind: 'control', control: { abort: { by: 'ana' } } },
      { kind: 'control', control: {} },
      done,
      planned('b'),
    ]);
    expect(run.outcome).toEqual({ outcome: 'aborted', by: { by: 'ana' } });
  });

  it('performs no step while it is paused, and makes passes', () => {
    const { kinds } = play([
      { kind: 'control', control: { paused: { by: 'ana' } } },
      done,
      planned('b'),
      planned('b'),
    ]);
    expect(kinds).toEqual(['perform', 'look', 'report', 'look', 'report', 'look']);
  });

  it('hands back with a long history, unless it is aborted', () => {
    const facts: Facts = { ...FACTS, history: 'veryLong' };
    expect(play([done, planned('b')], { facts }).run.outcome).toEqual({ outcome: 'handedBack' });
    const abort: OperationEvent<Plain> = { kind: 'control', control: { abort: {} } };
    expect(play([abort, done, planned('b')], { facts }).run.outcome?.outcome).toBe('aborted');
  });

  it('uses up an approval with its step, but not when the precondition of the step has changed', () => {
    const first = { ...FIRST, approval: 7 };
    const used = (outcome: StepOutcome) => {
      const [run] = operationReducer(rules)(newRun<Plain>(first, {}), { kind: 'performed', outcome }, FACTS);
      return run.used;
    };
    expect(used(done)).toEqual([7]);
    expect(used({ kind: 'failed', message: '' })).toEqual([7]);
    expect(used(changed)).toEqual([]);
  });

  it('does one thing at a time and ends once, in any order of events', () => {
    const outcome = fc.constantFrom<StepOutcome>(
      done,
      changed,
      { kind: 'done', hasWaited: true },
      {
        kind: 'failed',
        message: 'no',
      },
    );
    const event = fc.oneof(
      outcome,
      fc.constantFrom(planned('a'), planned('b'), idle),
      fc.constantFrom<OperationEvent<Plain>>(
        { kind: 'timer' },
        { kind: 'acknowledged' },
        { kind: 'control', control: {} },
        { kind: 'control', control: { paused: {} } },
        { kind: 'control', control: { abort: {} } },
      ),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), events => {
        const { kinds } = play(events);
        expect(kinds.filter(kind => kind === 'finish').length).toBeLessThan(2);
        expect(kinds.includes('finish') ? kinds.at(-1) : 'finish').toBe('finish');
      }),
      { numRuns: 500 },
    );
  });
});
