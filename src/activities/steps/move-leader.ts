import type { Step } from '../../planner/model/decision.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { onLeader } from '../cluster/leader.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { stillPlanned } from './still-planned.ts';

/** Has the leader hand over to another voter. Nothing is done when it leads no more: the plan is another one then. */
export async function moveLeader(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'moveLeader' }>,
): Promise<void> {
  const { observation } = await stillPlanned(deps, ref, step);
  await onLeader(deps, observation, leader => leader.moveLeader(step.toId));
  const message = `moved the leadership from ${step.from} to ${step.to}`;
  recordClusterEvent(deps, ref, { reason: 'LeaderMoved', message });
}
