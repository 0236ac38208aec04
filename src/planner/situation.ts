/** Works out the situation from what was observed. The one place where members are joined and the goal is judged. */
import type { WorkflowState } from './model/workflow-state.ts';
import { leaderAmong } from './model/member-probe.ts';
import { memberViews } from './model/member-view.ts';
import type { Observation } from './model/observation.ts';
import type { Situation } from './model/situation.ts';
import { upgradeGoal } from './operations/upgrade/goal.ts';

/** The situation that was observed, and what users want in it. */
export function situationOf(observation: Observation, workflowState: WorkflowState = {}): Situation {
  const known = {
    ...observation,
    workflowState,
    members: memberViews(observation),
    leader: leaderAmong(observation.probes),
  };
  return { ...known, goal: upgradeGoal(known) };
}
