/** How far an operation is, for users. Pure. */
import type { OperationStatus } from '../../api/schemas/types.ts';

/**
 * Such as `3 steps done, 4 left`. Plans are created again before each step, so what is left may grow: a share of a total, such as 3 of 4 and then
 * 3 of 7, would read as if something had been undone. Only what is left, if nobody counted what was done; empty when there is no step.
 */
export function progressOf({
  step = '',
  remaining = [],
  stepsDone,
}: Pick<OperationStatus, 'step' | 'remaining' | 'stepsDone'>): string {
  const left = (step === '' ? 0 : 1) + remaining.length;
  if (left === 0) return '';
  const steps = (count: number) => `${count} ${count === 1 ? 'step' : 'steps'}`;
  return stepsDone === undefined ? `${steps(left)} left` : `${steps(stepsDone)} done, ${left} left`;
}
