/** How far an operation is, as its status says. Pure. */
import type { OperationStatus } from '../../api/schemas/types.ts';

type Steps = Pick<OperationStatus, 'step' | 'remaining' | 'stepsDone'>;

/**
 * The step that is taken now, those that follow, and how many are behind it. A plan is made anew before each step, so steps may also come
 * or go: the number only grows, and stays as it is when the plan is the same, so that a repeated pass writes nothing.
 * @param plan summaries of the steps, the next one first
 * @param before the operation as status records it; undefined: it begins
 */
export function stepsOf(plan: readonly string[], before: Steps | undefined): Steps {
  const [step = '', ...remaining] = plan;
  const passed = before?.stepsDone;
  const stepsDone =
    before === undefined ? 0 : passed === undefined ? undefined : passed + taken(plan, before);
  return { step, remaining, ...(stepsDone !== undefined && { stepsDone }) };
}

/** How many steps of the plan before are behind this one. */
function taken([next = '', ...rest]: readonly string[], { step, remaining = [] }: Steps): number {
  if (next === step) return 0;
  const at = remaining.indexOf(next);
  // A step whose wording has changed since is not found: then a shorter plan decides.
  return at === -1 ? Math.max(0, remaining.length - rest.length) : at + 1;
}
