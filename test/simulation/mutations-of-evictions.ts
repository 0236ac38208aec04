/** What keeps drains from taking a quorum: see mutations.ts. */
import { minAvailableOf } from '../../src/objects/budget.ts';
import { budgetIsTooLow, minAvailableNow } from '../../src/planner/checks/disruptions.ts';
import { isDataInPods, membersOnLeavingNodes } from '../../src/planner/checks/leaving-members.ts';
import { planHandOver } from '../../src/planner/operations/move-leader/index.ts';
import { planBudget } from '../../src/planner/operations/repair/budget.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

export const EVICTION_MUTATIONS: readonly Mutation[] = [
  without(
    'a budget that lets too many go is not raised',
    'membersAreEvictedWhileOneJoins',
    returns(budgetIsTooLow, undefined),
  ),
  without(
    'one may always be evicted, also where a single member votes',
    'theOnlyVoterIsEvictedWhileAnotherJoins',
    instead(
      minAvailableOf,
      () =>
        ({ voters, learners }) =>
          voters + learners - 1,
    ),
  ),
  without(
    'the budget counts the members that are wished for',
    'membersAreEvictedWhileOneJoins',
    instead(
      minAvailableNow,
      () =>
        ({ cluster }) =>
          cluster.config.size - 3,
    ),
  ),
  without(
    'a leader that is evicted does not hand over',
    'theLeaderIsEvicted',
    returns(planHandOver, undefined),
  ),
  without(
    'a member with its data in its pod may be evicted',
    'nodesAreDrainedOfMembersWithDataInPods',
    returns(isDataInPods, false),
  ),
  without(
    'a member with its data in its pod stays on a node that is drained',
    'nodesAreDrainedOfMembersWithDataInPods',
    returns(membersOnLeavingNodes, []),
  ),
  without(
    'a budget that keeps too many is never lowered',
    'fewerAreWishedForInAPause',
    returns(planBudget, undefined),
  ),
];
