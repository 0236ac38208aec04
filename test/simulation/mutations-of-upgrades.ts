/** Guards of upgrades that are taken away: see mutations.ts. */
import { at, type Mutation, without } from './mutation.ts';

const GATES = 'planner/checks/gates.ts';
const VERSIONS = 'planner/operations/upgrade/path.ts';
const UPGRADE = 'planner/operations/upgrade/index.ts';
const GOAL = 'planner/operations/upgrade/goal.ts';

export const UPGRADE_MUTATIONS: readonly Mutation[] = [
  without(
    'an upgrade goes on while a member is away',
    'memberIsAwayBeforeAnUpgrade',
    at(GATES, 'unwell(seats, gate.tolerated)', 'undefined'),
    // Who does not answer names no leader, reads nothing, has no ready pod and says nothing of its keys: any of these would do.
    at(GATES, 'unsettled(observation, seats)', 'undefined'),
    at(GATES, 'behind(seats)', 'undefined'),
    at(GATES, 'mixed(seats, gate.versions)', 'undefined'),
    at(GATES, 'unready(seats)', 'undefined'),
    at(GATES, 'different(observation, seats)', 'undefined'),
  ),
  without(
    'an upgrade goes on while a learner joins',
    'memberJoinsWhenAnUpgradeIsAskedFor',
    at(GATES, 'unfinished(seats)', 'undefined'),
    // Learners come first everywhere, and nobody reads from one or asks it for its keys.
    at('planner/operations/membership/learner.ts', 'learner === undefined', 'learner?.started !== false'),
    at(GATES, 'unread(seats)', 'undefined'),
    at(GATES, 'different(observation, seats)', 'undefined'),
  ),
  without(
    'an upgrade goes on while a member holds other keys',
    'memberHasOtherKeys',
    at(GATES, 'different(observation, seats)', 'undefined'),
  ),
  without(
    'an upgrade goes on while a database is nearly full',
    'databaseIsNearlyFull',
    at(GATES, 'full(observation, seats, gate.tolerated)', 'undefined'),
  ),
  without(
    'an upgrade goes on while a member lags',
    'memberLagsBeforeAnUpgrade',
    at(GATES, 'behind(seats)', 'undefined'),
    at(GATES, 'different(observation, seats)', 'undefined'),
  ),
  without(
    'the next member is touched right after the last',
    'patchIsAskedFor',
    at(GATES, 'unquiet(observation, seats, gate.soakMs ?? 0)', 'undefined'),
    at(GATES, 'unsettled(observation, seats)', 'undefined'),
  ),
  without(
    'an upgrade ends while a member holds other keys',
    'keysDifferInTheEnd',
    at(GOAL, 'upgradeMayEnd(observation) === undefined', 'true'),
  ),
  without(
    'a member that has restarted counts as the one whose keys were compared',
    'patchIsAskedFor',
    at('planner/report/key-hashes.ts', 'container === member.container', 'true'),
  ),
  without(
    'upgraded members do not soak',
    'upgradedMembersAreToSoak',
    at(UPGRADE, 'observation.cluster.config.upgrade.soakSeconds * 1_000', '0'),
  ),
  without(
    'a leader is restarted before it has handed over',
    'patchIsAskedFor',
    at('planner/operations/rollout/next-member.ts', '!isLeader(observation, member)', 'true'),
  ),
  without(
    'a minor is skipped',
    'twoMinorsAreAskedFor',
    at(VERSIONS, 'departure.to === minorOf(target)', 'true'),
  ),
  without(
    'a minor is left below the release that mends its data',
    'oldReleaseLeftItsMark',
    at(VERSIONS, '!isAtLeast(at, departure.floor) && newest !== undefined', 'false'),
  ),
  without(
    'members are not started once more before they leave 3.6',
    'twoMinorsAreAskedFor',
    at(
      'planner/operations/upgrade/settling.ts',
      'departure.settles && departure.from === minorOf(from) && departure.to === minorOf(to)',
      'false',
    ),
  ),
  without(
    'the next minor is begun before the cluster has arrived in this one',
    'clusterArrivesLate',
    at(VERSIONS, "minorOf(cluster ?? '') === minor", 'true'),
    at(VERSIONS, "!knowsStorage || minorOf(storage ?? '') === minor", 'true'),
  ),
  without(
    'a member that fails with a version is left with it',
    'imageIsMissing',
    at(UPGRADE, 'failed !== undefined', 'false'),
  ),
  without(
    'what failed is tried again and again',
    'imageIsMissing',
    at(UPGRADE, 'stopped !== undefined', 'false'),
  ),
  without(
    'members go back after the point of no return',
    'mindIsChangedTooLate',
    at(
      GOAL,
      'canGoBack(observation, latch) ? go(from, [], [`back from ${to}`]) : go(to, [], later)',
      'go(from)',
    ),
  ),
  without(
    'a supervised upgrade asks nobody',
    'upgradeIsSupervised',
    at(
      'planner/operations/upgrade/consent.ts',
      "observation.cluster.config.upgrade.strategy !== 'Supervised' || first === undefined",
      'true',
    ),
  ),
  without(
    'an upgrade that is to have a backup has none',
    'backupIsRequired',
    at(UPGRADE, 'unsaved !== undefined', 'false'),
  ),
  without(
    'a member whose version nobody knows gets what is asked for',
    'statusIsLostInTheMiddle',
    at('planner/report/status.ts', 'recorded ?? known.toSorted(compareVersions)[0]', 'recorded'),
  ),
];
