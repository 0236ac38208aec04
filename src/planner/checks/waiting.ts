/** Whether what stands in the way passes by itself, and soon: an operation that waits for it goes on normally. Pure. */
import { OBSTACLES, type ObstacleReason } from '../../api/obstacles/catalogue.ts';
import { WAIT } from '../../api/obstacles/rows.ts';
import type { Decision } from '../model/decision.ts';
import { isTerminationOverdue } from '../model/member-names.ts';
import type { Situation } from '../model/situation.ts';

/** The leader raises the version of the cluster within seconds; so long after the last member came something is wrong. */
const ARRIVAL_MS = 300_000;

/** It continues by itself, too, but what it waits for may never come. */
const FAULTS: readonly ObstacleReason[] = ['WaitingForMember'];

/** Whether this decision only waits. */
export function isWaiting(situation: Situation, decision: Decision): boolean {
  if (decision.kind !== 'blocked' || decision.consent !== undefined) return false;
  const { reason } = decision;
  if (reason === 'PodTerminating')
    return !situation.pods.some(pod => isTerminationOverdue(pod, situation.now));
  if (reason === 'ClusterVersionBehind') return isArriving(situation);
  return OBSTACLES[reason][1] === WAIT && !FAULTS.includes(reason);
}

/** A member has come, or become ready, so recently that its cluster's version may be raised yet. */
export function isArriving({ members, now }: Pick<Situation, 'members' | 'now'>): boolean {
  const youngest = Math.max(...members.map(({ pod }) => pod?.readyChangedAt ?? pod?.createdAt ?? 0));
  return now - youngest < ARRIVAL_MS;
}
