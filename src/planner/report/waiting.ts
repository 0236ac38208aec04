/** Whether what stands in the way passes by itself, and soon: an operation that waits for it goes on normally. Pure. */
import { OBSTACLES, type ObstacleReason } from '../../api/obstacles/catalogue.ts';
import { WAIT } from '../../api/obstacles/rows.ts';
import type { Decision } from '../model/decision.ts';
import { isTerminationOverdue } from '../model/member-names.ts';
import type { Situation } from '../model/situation.ts';
import { isArriving } from '../operations/upgrade/arriving.ts';

/** It goes on by itself, too, but what it waits for may never come. */
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
