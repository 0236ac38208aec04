/** What keeps drains from taking a quorum: see mutations.ts. */
import { at, type Mutation, returns, without } from './mutation.ts';

export const EVICTION_MUTATIONS: readonly Mutation[] = [
  without(
    'a budget that lets too many go is not raised',
    'membersAreEvictedWhileOneJoins',
    returns('budgetIsTooLow', 'undefined'),
  ),
  without(
    'one may always be evicted, also where a single member votes',
    'theOnlyVoterIsEvictedWhileAnotherJoins',
    at('minAvailableOf', 'voters >= 3 || isMeantSo', 'true'),
  ),
  without(
    'the budget counts the members that are wished for',
    'membersAreEvictedWhileOneJoins',
    at('minAvailableNow', 'minAvailableOf({ voters, learners, wanted })', 'wanted - 3'),
  ),
  without(
    'a budget that keeps too many is never lowered',
    'fewerAreWishedForInAPause',
    returns('planBudget', 'undefined'),
  ),
];
