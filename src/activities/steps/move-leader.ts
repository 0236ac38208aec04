import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { onLeader } from '../cluster/leader.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/** Has the leader hand over to another voter. Nothing is done when it leads no more: the plan is another one then. */
export const moveLeader: Perform<'moveLeader'> = async (deps, ref, step) => {
  const { situation } = await stillPlanned(deps, ref, step);
  await onLeader(deps, situation, leader => leader.moveLeader(step.toId));
  const message = `moved the leadership from ${step.from} to ${step.to}`;
  recordClusterEvent(deps, ref, { reason: 'LeaderMoved', message });
};
