/** Guards of what is done about members whose data differs that are taken away: see mutations.ts. */
import { doubtfulOf, isFresh, mayDiffer } from '../../src/planner/checks/corruption.ts';
import { judged } from '../../src/planner/checks/data-verdict.ts';
import { othersAreHealthy } from '../../src/planner/operations/membership/corrupt.ts';
import { unexplainedAlarms } from '../../src/planner/operations/compare-data/index.ts';
import { isNonBlockingFailure } from '../../src/planner/checks/failed-steps.ts';
import { planCorruptLeader } from '../../src/planner/operations/move-leader/index.ts';
import { quorumSurvivesRemoval } from '../../src/planner/checks/preflight.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

export const CORRUPTION_MUTATIONS: readonly Mutation[] = [
  without(
    'a member is removed for what was compared some minutes ago',
    'memberDiffersAndNobodyNoticed',
    returns(isFresh, true),
  ),
  without(
    'the larger part decides, also where it is no majority',
    'noMajorityHoldsTheSame',
    instead(judged, original => (situation, record) => {
      const verdict = original(situation, record);
      if (verdict.kind !== 'undecided') return verdict;
      const [first, ...others] = verdict.sides.map(({ views }) => views);
      return { ...verdict, kind: 'differs', majority: first ?? [], differing: others.flat() };
    }),
  ),
  without(
    'a member goes for its data while another one is away',
    'memberDiffersWhileAnotherIsAway',
    returns(othersAreHealthy, undefined),
    returns(quorumSurvivesRemoval, undefined),
  ),
  without(
    'CORRUPT is disarmed while members differ',
    'corruptWithoutDifference',
    instead(judged, original => (situation, record) => {
      const verdict = original(situation, record);
      return verdict.kind === 'differs' ? { kind: 'equal' } : verdict;
    }),
    returns(unexplainedAlarms, []),
  ),
  without(
    'a leader whose data differs goes on leading',
    'theLeaderDiffers',
    returns(planCorruptLeader, undefined),
  ),
  without(
    'a member whose data differs may be handed the leadership',
    'theLeaderIsEvictedWhileAMemberDiffers',
    returns(mayDiffer, false),
  ),
  without('a majority is believed whatever was found before', 'whatDiffersSpreads', returns(doubtfulOf, [])),
  without(
    'all waits for clients to be led away',
    'clientsCannotBeLedAway',
    returns(isNonBlockingFailure, false),
  ),
];
