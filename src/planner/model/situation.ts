/**
 * What one observation says of a cluster, computed once: every planner, gate and report takes this record, and none joins or judges the
 * same facts again. A plain record that nobody changes.
 */
import type { WorkflowState } from './workflow-state.ts';
import type { LeadingMember } from './member-probe.ts';
import type { MemberView } from './member-view.ts';
import type { Observation } from './observation.ts';
import type { UpgradeGoal } from './upgrade-goal.ts';

export interface Situation extends Observation {
  /** What users want, as planners and reports both take it. */
  readonly workflowState: WorkflowState;
  /** The members as a quorum lists them, in the order of their serials; none while no quorum says. */
  readonly members: readonly MemberView[];
  /** Who says that it leads; undefined while nobody does. */
  readonly leader: LeadingMember | undefined;
  /** The version that the members are to be brought to. */
  readonly goal: UpgradeGoal;
}

/** What is known before it is known where the versions go: the goal itself is judged from it. */
export type SituationWithoutGoal = Omit<Situation, 'goal'>;
