/** How far an operation is, for people. Pure. */
import type { OperationStatus } from '../../api/schemas/types.ts';

/** How many characters a bar has. */
const WIDTH = 20;

/**
 * Such as `3 of 7 steps`, behind a bar if one can be drawn. Plans are made anew before each step, so the total may change; what is
 * done is always less than the total while a step is left. Only what is left, if nobody counted what was done; empty when there is no step.
 */
export function progressOf(
  { step = '', remaining = [], stepsDone }: Pick<OperationStatus, 'step' | 'remaining' | 'stepsDone'>,
  isTerminal: boolean,
): string {
  const left = (step === '' ? 0 : 1) + remaining.length;
  if (left === 0) return '';
  if (stepsDone === undefined) return `${left} ${left === 1 ? 'step' : 'steps'} left`;
  const total = stepsDone + left;
  const filled = Math.floor((stepsDone / total) * WIDTH);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] `;
  return `${isTerminal ? bar : ''}${stepsDone} of ${total} steps`;
}
