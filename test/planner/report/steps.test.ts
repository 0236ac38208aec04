import { describe, expect, it } from 'vitest';
import { stepsOf } from '../../../src/planner/report/steps.ts';

const before = { step: 'stop a', remaining: ['start a', 'stop b', 'start b'], stepsDone: 2 };

describe('the steps behind an operation', () => {
  it('are none when it begins', () => {
    expect(stepsOf(['one', 'two'], undefined)).toEqual({ step: 'one', remaining: ['two'], stepsDone: 0 });
  });

  it.each<[string, readonly string[], number]>([
    ['the same plan: nothing changes', ['stop a', 'start a', 'stop b', 'start b'], 2],
    ['the next step', ['start a', 'stop b', 'start b'], 3],
    ['a step that was not needed any more counts', ['stop b', 'start b'], 4],
    ['a step is put in front: none is taken', ['wait for c', 'stop a', 'start a', 'stop b', 'start b'], 2],
    ['the plan has grown behind the next step', ['start a', 'stop b', 'start b', 'stop c', 'start c'], 3],
    ['the next step is worded in another way', ['start a: it failed', 'stop b', 'start b'], 3],
    ['another plan of the same length', ['w', 'x', 'y', 'z'], 2],
  ])('%s', (_, plan, stepsDone) => {
    expect(stepsOf(plan, before)).toMatchObject({ stepsDone });
  });

  it('are not known when another release did not count them', () => {
    const { stepsDone: _, ...uncounted } = before;
    expect(stepsOf(['start a'], uncounted)).toEqual({ step: 'start a', remaining: [] });
  });
});
