/** The conditions of a cluster as a pass would report them. */
import { expect } from 'vitest';
import type { Observation } from '../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import { plan } from '../../src/planner/plan.ts';
import { conditionsOf } from '../../src/planner/report/conditions.ts';
import { observedMembers } from '../../src/planner/report/members.ts';
import { situationOf } from '../../src/planner/situation.ts';

/** Every condition that a pass reports, as `type → [status, reason, message]`. */
export function reportConditions(
  observation: Observation,
  workflowState: WorkflowState = {},
): Record<string, [string, string, string]> {
  const decision = plan(observation, workflowState);
  const members = observedMembers(situationOf(observation));
  const conditions = conditionsOf({ situation: situationOf(observation, workflowState), decision, members });
  expect(new Set(conditions.map(({ type }) => type)).size).toBe(conditions.length);
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [type, [status, reason, message]]),
  );
}
