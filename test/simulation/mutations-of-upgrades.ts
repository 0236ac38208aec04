/** Guards of upgrades that are taken away: see mutations.ts. */
import { at, type Mutation, returns, without } from './mutation.ts';

export const UPGRADE_MUTATIONS: readonly Mutation[] = [
  without(
    'an upgrade goes on while a member is away',
    'memberIsAwayBeforeAnUpgrade',
    returns('unhealthy', 'undefined'),
    // Who does not answer names no leader, reads nothing, has no ready pod and says nothing of its keys: any of these would do.
    returns('leaderUnstable', 'undefined'),
    returns('gates/behind', 'undefined'),
    returns('mixed', 'undefined'),
    returns('unready', 'undefined'),
    returns('different', 'undefined'),
  ),
  without(
    'an upgrade goes on while a learner joins',
    'memberJoinsWhenAnUpgradeIsAskedFor',
    returns('gates/unfinished', 'undefined'),
    // Learners come first everywhere, and nobody reads from one or asks it for its keys.
    at('planLearner', 'learner === undefined', 'learner?.started !== false'),
    returns('unread', 'undefined'),
    returns('different', 'undefined'),
  ),
  without(
    'an upgrade goes on while a member holds other keys',
    'memberHasOtherKeys',
    returns('different', 'undefined'),
  ),
  without(
    'an upgrade goes on while a database is nearly full',
    'databaseIsNearlyFull',
    returns('full', 'undefined'),
  ),
  without(
    'an upgrade goes on while a member lags',
    'memberLagsBeforeAnUpgrade',
    returns('gates/behind', 'undefined'),
    returns('unread', 'undefined'),
    returns('different', 'undefined'),
  ),
  without(
    'the next member is touched right after the last',
    'patchIsAskedFor',
    returns('unquiet', 'undefined'),
    returns('leaderUnstable', 'undefined'),
  ),
  without(
    'an upgrade ends while a member holds other keys',
    'keysDifferInTheEnd',
    at('isComplete', 'upgradeMayEnd(observation) === undefined', 'true'),
  ),
  without(
    'a member that has restarted counts as the one whose keys were compared',
    'patchIsAskedFor',
    at('isSame', 'container === member.container', 'true'),
  ),
  without(
    'upgraded members do not soak',
    'upgradedMembersAreToSoak',
    at('gates', 'situation.cluster.config.upgrade.soakSeconds * 1_000', '0'),
  ),
  without(
    'a leader is restarted before it has handed over',
    'patchIsAskedFor',
    at('transferLeadership', '!isLeader(situation, member)', 'true'),
  ),
  without(
    'a minor is skipped',
    'twoMinorsAreAskedFor',
    at('hopsBetween', 'departure.to === minorOf(target)', 'true'),
  ),
  without(
    'a minor is left below the release that mends its data',
    'oldReleaseLeftItsMark',
    at('hopsBetween', '!isAtLeast(at, departure.floor) && newest !== undefined', 'false'),
  ),
  without(
    'members are not started once more before they leave 3.6',
    'twoMinorsAreAskedFor',
    at(
      'needsExtraRestart',
      'departure.extraRestart && departure.from === minorOf(from) && departure.to === minorOf(to)',
      'false',
    ),
  ),
  without(
    'the next minor is begun before the cluster has arrived in this one',
    'clusterArrivesLate',
    at('hasArrived', "minorOf(cluster ?? '') === minor", 'true'),
    at('hasArrived', "!knowsStorage || minorOf(storage ?? '') === minor", 'true'),
  ),
  without(
    'a member that fails with a version is left with it',
    'imageIsMissing',
    at('planUpgrade', 'failed !== undefined', 'false'),
  ),
  without(
    'what failed is tried again and again',
    'imageIsMissing',
    at('planUpgrade', 'stopped !== undefined', 'false'),
  ),
  without(
    'members go back after the point of no return',
    'mindIsChangedTooLate',
    at(
      'latchedGoal',
      'canGoBack(observation, latch) ? go(from, [], [`back from ${to}`]) : go(to, [], later)',
      'go(from)',
    ),
  ),
  without(
    'a supervised upgrade asks nobody',
    'upgradeIsSupervised',
    at(
      'consented',
      "situation.cluster.config.upgrade.strategy !== 'Supervised' || first === undefined",
      'true',
    ),
  ),
  without(
    'an upgrade that is to have a backup has none',
    'backupIsRequired',
    at('planUpgrade', 'unsaved !== undefined', 'false'),
  ),
  without(
    'a member whose version nobody knows gets what is asked for',
    'statusIsLostInTheMiddle',
    at('currentVersionOf', 'recorded ?? known.toSorted(compareVersions)[0]', 'recorded'),
  ),
];
