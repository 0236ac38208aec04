/**
 * Every kind of step, one row each: what it acts on, how long it may take, whether it is planned again before it is done, and its
 * line for users. Each is an activity of the same name (src/activities/index.ts).
 */
import type { WorkflowState } from './workflow-state.ts';
import { CREATION_STEPS } from './steps/creation.ts';
import { MEMBER_STEPS } from './steps/members.ts';
import { OBJECT_STEPS } from './steps/objects.ts';
import { RESTORE_STEPS } from './steps/restore.ts';
import type { FieldsOf, StepRow, StepTiming } from './steps/row.ts';
import { UPGRADE_STEPS } from './steps/upgrade.ts';

export const STEPS = {
  ...CREATION_STEPS,
  ...MEMBER_STEPS,
  ...OBJECT_STEPS,
  ...UPGRADE_STEPS,
  ...RESTORE_STEPS,
};

type Steps = typeof STEPS;
export type StepKind = keyof Steps;

/** What users said that a step was planned upon. The step is planned once more with it right before it is done. */
export type PlannedUpon = Pick<WorkflowState, 'approvals' | 'requests' | 'aborted' | 'failed' | 'paused'>;

/** A step of this kind. */
export type StepOf<Kind extends StepKind> = {
  readonly [Each in Kind]: { readonly kind: Each; readonly plannedUpon?: PlannedUpon } & FieldsOf<
    Steps[Each]
  >;
}[Kind];

/** One thing to do, naming exactly what it acts on. */
export type Step = StepOf<StepKind>;

/** The steps that are planned once more right before they are done. */
export type StepPlannedAgain = StepOf<
  { [Kind in StepKind]: Steps[Kind] extends { readonly plannedAgain: true } ? Kind : never }[StepKind]
>;

/** A later step of a plan, for users: by then it will be planned again from what is seen then. */
export interface PlannedStep {
  readonly kind: StepKind;
  readonly summary: string;
}

/** A step as an entry of a plan. */
export function planned(step: Step): PlannedStep {
  return { kind: step.kind, summary: rowOf(step).summary(step) };
}

/** How long the step may take. */
export function timingOf(step: Step): StepTiming {
  return rowOf(step).timing;
}

/** What the row of a kind of step says of every such step; undefined of a kind of another release. */
export function traitsOf(
  kind: string,
): Pick<StepRow<never>, 'isolated' | 'bringsMembers' | 'stopsMember'> | undefined {
  return Object.hasOwn(STEPS, kind) ? STEPS[kind as StepKind] : undefined;
}

/** The type system does not see that the row of a step's kind takes that step's fields. */
function rowOf({ kind }: Step): StepRow<Step> {
  return STEPS[kind] as StepRow<never> as StepRow<Step>;
}
