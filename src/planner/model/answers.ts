import type { Obstacle } from './obstacle.ts';
import type { Decision, Operation, Step } from './decision.ts';
import type { Approval } from './actor.ts';
import { planned, timingOf } from './step-catalogue.ts';

/** How often to look at a cluster that nothing is wrong with; watched changes are told at once. */
const IDLE_SECONDS = 60;
/** How often to look again at what stands in the way; watched changes are told at once. */
const BLOCKED_SECONDS = 10;

type Work = Extract<Decision, { kind: 'operate' }>;

/** Perform the first of these steps, using up the approval that it was given, if any. Throws a RangeError without steps. */
export function operate(operation: Operation, steps: readonly Step[], approval?: Approval): Work {
  const [step] = steps;
  if (step === undefined) throw new RangeError(`${operation} was planned without a step`);
  return {
    kind: 'operate',
    operation,
    step,
    timing: timingOf(step),
    plan: steps.map(planned),
    ...(approval && { approval: approval.id }),
  };
}

/** There is work, and `obstacle` stands in its way. `steps` is what would be done. */
export function blocked(obstacle: Obstacle, steps: readonly Step[] = []): Decision {
  const { waitMs, first: _, ...said } = obstacle;
  const nextLookSeconds = waitMs === undefined ? BLOCKED_SECONDS : Math.min(600, Math.ceil(waitMs / 1_000));
  return { kind: 'blocked', ...said, nextLookSeconds, plan: steps.map(planned) };
}

/** Nothing to do. */
export function idle(nextLookSeconds = IDLE_SECONDS): Decision {
  return { kind: 'idle', nextLookSeconds };
}

/** The same, about this one thing that was asked for: an abort of it is no abort of the next. */
export function about(subject: string, decision: Decision): Decision {
  return decision.kind === 'operate' ? { ...decision, subject } : decision;
}

/** The same, as the end of something that was aborted: an abort does not stop it. */
export function undoing(work: Work): Work {
  return { ...work, undo: true };
}
