/**
 * What the planner answers. A decision is a value: it can be printed, stored in a workflow's history and compared.
 */
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import type { Operation } from '../../api/operations.ts';
import type { Approval } from './workflow-state.ts';
import { planned, type PlannedStep, type Step, timingOf } from './step-catalogue.ts';
import type { StepTiming } from './steps/row.ts';

export type { Operation } from '../../api/operations.ts';
export type { PlannedStep, Step, StepKind } from './step-catalogue.ts';
export type { SharedObject } from './steps/objects.ts';

/** What a step is not taken without: a person's approval of exactly this. */
export interface Consent {
  readonly operation: Operation;
  /** Ids of members, or whatever else distinguishes this from every other consent. */
  readonly ids: readonly string[];
}

/** What stands in the way: a stable reason for machines, a message for users. */
export interface Obstacle {
  readonly reason: ObstacleReason;
  readonly message: string;
  /** The obstacle is gone once a person approves this. */
  readonly consent?: Consent;
  /** The obstacle is not an error: it goes away by itself within this many milliseconds. */
  readonly waitMs?: number;
  /** The step, of the operation that is blocked, that finds out whether the obstacle exists. */
  readonly first?: Step;
}

export type Decision =
  /** The resource is gone: its workflow ends. */
  | { readonly kind: 'gone' }
  /** Nothing to do. */
  | { readonly kind: 'idle'; readonly nextPassSeconds: number }
  /** There is work, and it must not or cannot be done now. `plan` is what would come. */
  | {
      readonly kind: 'blocked';
      readonly reason: ObstacleReason;
      readonly message: string;
      readonly nextPassSeconds: number;
      readonly plan: readonly PlannedStep[];
      /** It continues when a person approves of this. */
      readonly consent?: Consent;
      /** The operation that waits, or is to be tried again, where nothing but time or the cluster is in its way: it can be aborted meanwhile. */
      readonly operation?: Operation;
      /** Of it, as of one that is performed. */
      readonly subject?: string;
    }
  /** `step` is performed, then the world is looked at again; `plan` is what remains up to the next change of the membership, `step` first. */
  | {
      readonly kind: 'operate';
      readonly operation: Operation;
      readonly step: Step;
      /** Of `step`: recorded with it, so that workflows need to know of no step. */
      readonly timing: StepTiming;
      readonly plan: readonly PlannedStep[];
      /** The steps that follow `step` without a pass in between: what they need is known, and each makes sure of it when it is performed. */
      readonly following?: readonly Following[];
      /** The approval that `step` uses up. */
      readonly approval?: number | string;
      /** What was asked for, where that can be asked for again: an abort holds for this one. */
      readonly subject?: string;
      /** It ends what was begun and aborted: the abort does not stop it. */
      readonly undo?: true;
      /** It gives back what the operator itself took from the cluster: no pause, abort or other failure stops it. */
      readonly closes?: true;
    };

/** A step, with how long it may take. */
interface Following {
  readonly step: Step;
  readonly timing: StepTiming;
}

/** How often to look again at what stands in the way; watched changes are reported at once. */
const BLOCKED_SECONDS = 10;

/** A decision to perform a step. */
export type Work = Extract<Decision, { kind: 'operate' }>;

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

/** The same, with as many of the further steps as `leads` says performed without a pass in between. Each is asked of two steps in a row. */
export function inOneGo(
  work: Work,
  steps: readonly Step[],
  leads: (step: Step, next: Step) => boolean,
): Work {
  const [, ...further] = steps;
  const end = further.findIndex((step, index) => !leads(steps[index] as Step, step));
  const following = (end === -1 ? further : further.slice(0, end)).map(step => ({
    step,
    timing: timingOf(step),
  }));
  return following.length === 0 ? work : { ...work, following };
}

/** There is work, and `obstacle` stands in its way. `steps` is what would be done, of `operation` where that can be aborted meanwhile. */
export function blocked(obstacle: Obstacle, steps: readonly Step[] = [], operation?: Operation): Decision {
  const { waitMs, first: _, ...shown } = obstacle;
  const nextPassSeconds = waitMs === undefined ? BLOCKED_SECONDS : Math.min(600, Math.ceil(waitMs / 1_000));
  return {
    kind: 'blocked',
    ...shown,
    nextPassSeconds,
    plan: steps.map(planned),
    ...(operation !== undefined && { operation }),
  };
}

/** Nothing to do. @param nextPassSeconds see planner/next-look.ts, which has the last word */
export function idle(nextPassSeconds = BLOCKED_SECONDS): Decision {
  return { kind: 'idle', nextPassSeconds };
}

/** The same, about this one thing that was asked for: an abort of it is no abort of the next. */
export function withSubject(subject: string, decision: Decision): Decision {
  return decision.kind === 'operate' ? { ...decision, subject } : decision;
}

/** The same, as the end of something that was aborted: an abort does not stop it. */
export function asRollback(work: Work): Work {
  return { ...work, undo: true };
}

/** The same, as what gives back a member that the operator itself took away: nobody's stop begins before it is done. */
export function asClosing(work: Work): Work {
  return { ...work, undo: true, closes: true };
}
