/**
 * Volumes that no claim can be changed into, another StorageClass or a smaller size, and data in pods whose nodes are about to be drained. The members move, one after the other: a new one
 * joins, and when it votes the old one goes; the leader last. This begins the replacement of each; what follows is the
 * membership's (operations/membership/departing.ts).
 */
import { nextMemberMayGo } from '../../checks/gates.ts';
import { specificationIsUsable } from '../../checks/obstacles.ts';
import { membersOnLeavingNodes, membersToReplace } from '../../checks/leaving-members.ts';
import { newVolumesFit } from '../../checks/outdated-volumes.ts';
import { askedIds } from '../../checks/user-requests.ts';
import type { Decision, Obstacle, Step } from '../../model/decision.ts';
import { once } from '../../model/once.ts';
import type { Situation } from '../../model/situation.ts';
import { planDefragmentation } from '../defragment/index.ts';
import { addingIsSafe, stepsToAdd, stepsToRemove } from '../membership/scale.ts';
import { planRollout } from '../rollout/index.ts';
import { planUpgrade } from '../upgrade/index.ts';
import { whenGatesOpen } from '../rollout/next-member.ts';

/** The next member that is replaced although it is well; undefined when there is none, or none may be replaced now. */
export function planVolumeReplacement(situation: Situation): Decision | undefined {
  const decision = replacement(situation);
  return decision?.kind === 'operate' ? decision : undefined;
}

/** Why none is replaced; undefined when one is, or none has to be. What waits holds up nothing else. */
export function planHeldVolumeReplacement(situation: Situation): Decision | undefined {
  const decision = replacement(situation);
  return decision?.kind === 'blocked' ? decision : undefined;
}

const replacement = once(findReplacement);

function findReplacement(situation: Situation): Decision | undefined {
  const { members } = situation;
  const [next] = membersToReplace(situation);
  if (next === undefined || specificationIsUsable(situation) !== undefined) return undefined;
  if (isBusy(situation)) return undefined;
  return whenGatesOpen(situation, {
    operation: 'replaceMember',
    obstacle: addingIsSafe(situation, members) ?? mayBegin(situation),
    steps: stepsToReplace(situation),
    member: next.view.name,
  });
}

/** Nobody waits for another volume. A drain waits, as a person does who asks for a replacement. */
function mayBegin(situation: Situation): Obstacle | undefined {
  if (membersOnLeavingNodes(situation).length > 0) return undefined;
  return newVolumesFit(situation) ?? nextMemberMayGo(situation);
}

/** Members are touched for something else, and not all of them have been: that is brought to its end first. */
function isBusy(situation: Situation): boolean {
  const upgrade = planUpgrade(situation);
  if (upgrade?.kind === 'operate') return true;
  if (upgrade !== undefined && membersOnLeavingNodes(situation).length === 0) return true;
  if (askedIds(situation, 'restart').length > 0) return true;
  const { type } = situation.cluster.status.operation ?? {};
  if (type === 'rolloutCluster') return planRollout(situation) !== undefined;
  return type === 'defragmentMembers' && planDefragmentation(situation) !== undefined;
}

/** All of them, so that the plan says how many there are; names and ids of those to come are not known yet. */
function stepsToReplace(situation: Situation): Step[] {
  const { members } = situation;
  return membersToReplace(situation).flatMap(({ view, because: reason }) => [
    ...stepsToAdd(situation, members),
    ...stepsToRemove(situation, members, { view, after: undefined, reason }),
  ]);
}
