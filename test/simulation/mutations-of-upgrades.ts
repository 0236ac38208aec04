/** Guards of upgrades that are taken away: see mutations.ts. */
import {
  behind,
  different,
  full,
  leaderUnstable,
  mixed,
  nextMemberMayGo,
  unfinished,
  unhealthy,
  unquiet,
  unread,
  unready,
  upgradeMayEnd,
} from '../../src/planner/checks/gates.ts';
import { planLearner } from '../../src/planner/operations/membership/learner.ts';
import { transferLeadership } from '../../src/planner/operations/rollout/next-member.ts';
import { backUpFirst } from '../../src/planner/operations/upgrade/backup.ts';
import { consented } from '../../src/planner/operations/upgrade/consent.ts';
import { needsExtraRestart } from '../../src/planner/operations/upgrade/extra-restart.ts';
import {
  beforeJoin,
  downgradeStep,
  stepAfterStop,
  strangeDowngrade,
} from '../../src/planner/operations/upgrade/descent.ts';
import { failedMember, stoppedBy } from '../../src/planner/operations/upgrade/failure.ts';
import { canGoBack } from '../../src/planner/operations/upgrade/goal.ts';
import { hasArrived, hopsBetween, isLowered } from '../../src/planner/operations/upgrade/path.ts';
import { startVersion } from '../../src/planner/operations/upgrade/pods.ts';
import { isSame } from '../../src/planner/report/key-hashes.ts';
import { currentVersionOf } from '../../src/planner/report/status.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

const withoutCancelling = instead(downgradeStep, original => (situation, goal) => {
  const step = original(situation, goal);
  return step?.kind === 'cancelDowngrade' ? undefined : step;
});

export const UPGRADE_MUTATIONS: readonly Mutation[] = [
  without(
    'an upgrade goes on while a member is away',
    'memberIsAwayBeforeAnUpgrade',
    returns(unhealthy, undefined),
    // Who does not answer names no leader, reads nothing, has no ready pod and says nothing of its keys: any of these would do.
    returns(leaderUnstable, undefined),
    returns(behind, undefined),
    returns(mixed, undefined),
    returns(unready, undefined),
    returns(different, undefined),
  ),
  without(
    'an upgrade goes on while a learner joins',
    'memberJoinsWhenAnUpgradeIsAskedFor',
    returns(unfinished, undefined),
    // Learners come first everywhere, and nobody reads from one or asks it for its keys.
    instead(
      planLearner,
      original => (situation, views) =>
        views.find(({ isLearner }) => isLearner)?.started === false ? original(situation, views) : undefined,
    ),
    returns(unread, undefined),
    returns(different, undefined),
  ),
  without(
    'an upgrade goes on while a member holds other keys',
    'memberHasOtherKeys',
    returns(different, undefined),
  ),
  without(
    'an upgrade goes on while a database is nearly full',
    'databaseIsNearlyFull',
    returns(full, undefined),
  ),
  without(
    'an upgrade goes on while a member lags',
    'memberLagsBeforeAnUpgrade',
    returns(behind, undefined),
    returns(unread, undefined),
    returns(different, undefined),
  ),
  without(
    'the next member is touched right after the last',
    'patchIsAskedFor',
    returns(unquiet, undefined),
    returns(leaderUnstable, undefined),
  ),
  without(
    'an upgrade ends while a member holds other keys',
    'keysDifferInTheEnd',
    returns(upgradeMayEnd, undefined),
  ),
  without(
    'a member that has restarted counts as the one whose keys were compared',
    'patchIsAskedFor',
    instead(isSame, original => (pod, member) => original({ ...pod, container: member.container }, member)),
  ),
  without(
    'upgraded members do not soak',
    'upgradedMembersAreToSoak',
    instead(nextMemberMayGo, original => (situation, gate) => original(situation, { ...gate, soakMs: 0 })),
  ),
  without(
    'a leader is restarted before it has handed over',
    'patchIsAskedFor',
    returns(transferLeadership, []),
  ),
  without(
    'a minor is skipped',
    'twoMinorsAreAskedFor',
    instead(hopsBetween, () => (_, target) => [target]),
  ),
  without(
    'a minor is left below the release that mends its data',
    'oldReleaseLeftItsMark',
    instead(hopsBetween, () => (_, target) => [target]),
  ),
  without(
    'members are not started once more before they leave 3.6',
    'twoMinorsAreAskedFor',
    returns(needsExtraRestart, false),
  ),
  without(
    'the next minor is begun before the cluster has arrived in this one',
    'clusterArrivesLate',
    returns(hasArrived, true),
  ),
  without(
    'a member is lowered before etcd has lowered its data',
    'minorBackIsAskedFor',
    returns(downgradeStep, undefined),
  ),
  without('data is taken for lowered that is not', 'versionsAreLoweredLate', returns(isLowered, true)),
  without(
    'a member that was never made ready comes back with the older minor',
    'podGoesBeforeVersionsAreLowered',
    instead(startVersion, () => (_, goal) => goal.to),
  ),
  without(
    'a downgrade that has stopped stays enabled',
    'olderVersionCrashes',
    returns(stepAfterStop, undefined),
  ),
  without(
    'a downgrade stays enabled when it is asked for no more',
    'downgradeIsCancelledInTheMiddle',
    withoutCancelling,
  ),
  without(
    'a member is added while a downgrade is enabled',
    'memberIsLostBeforeVersionsAreLowered',
    instead(beforeJoin, () => (_, decision) => decision),
  ),
  without('what is left of a downgrade stays', 'downgradeIsLeftOver', withoutCancelling),
  without(
    'somebody else has enabled a downgrade in the middle, and nobody says so',
    'somebodyEnablesADowngradeInTheMiddle',
    returns(strangeDowngrade, undefined),
  ),
  without(
    'a member that fails with a version is left with it',
    'imageIsMissing',
    returns(failedMember, undefined),
  ),
  without('what failed is tried again and again', 'imageIsMissing', returns(stoppedBy, undefined)),
  without(
    'members go back after the point of no return',
    'mindIsChangedTooLate',
    returns(canGoBack, true),
    // Else it would be a downgrade, which etcd is asked for.
    returns(downgradeStep, undefined),
  ),
  without('a supervised upgrade asks nobody', 'upgradeIsSupervised', returns(consented, {})),
  without(
    'an upgrade that is to have a backup has none',
    'backupIsRequired',
    returns(backUpFirst, undefined),
  ),
  without(
    'a member whose version nobody knows gets what is asked for',
    'statusIsLostInTheMiddle',
    instead(currentVersionOf, original => (members, recorded) => recorded && original(members, recorded)),
  ),
];
