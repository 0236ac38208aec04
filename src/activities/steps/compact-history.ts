import { onLeader } from '../cluster/leader.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/** Has etcd forget the history before the revision, and waits until it is out of the leader's database. */
export const compactHistory: Perform<'compactHistory'> = async (deps, ref, step) => {
  const { situation } = await stillPlanned(deps, ref, step);
  await onLeader(deps, situation, leader => leader.compact(step.revision));
  const message = `compacted the history before revision ${step.revision}`;
  recordClusterEvent(deps, ref, { reason: 'HistoryCompacted', message });
};
