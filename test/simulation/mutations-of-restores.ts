/** Guards of restores that are taken away: see mutations.ts. */
import { refuseUnlike } from '../../src/activities/backup/examined-object.ts';
import { tryImages } from '../../src/activities/steps/shared/image-trial.ts';
import { madeByOtherOperator } from '../../src/planner/checks/other-operator.ts';
import { identityIsRecorded } from '../../src/planner/checks/restore-acceptance.ts';
import {
  idBefore,
  judgeConfirmation,
  judgeUnidentified,
} from '../../src/planner/checks/restore-confirmation.ts';
import { graceOfLossMs, isTotalLoss } from '../../src/planner/checks/total-loss.ts';
import { goesToSleep } from '../../src/planner/model/hibernation.ts';
import { rebuiltIdentity } from '../../src/planner/model/identity.ts';
import { recordedRefusal } from '../../src/planner/model/restore-acceptance.ts';
import { isUnsaved } from '../../src/planner/model/restore-of-cluster.ts';
import { restoredVersion } from '../../src/planner/model/restored-version.ts';
import { restoreWithoutStatus } from '../../src/planner/operations/create/unidentified.ts';
import { abandoning, fence } from '../../src/planner/operations/restore/index.ts';
import { lackOfSeed } from '../../src/planner/operations/restore/seed.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';
import { NOTHING_IS_STAMPED } from './mutations-of-members.ts';

/** Another id confirms as the right one does. */
const ANY_ID = instead(
  judgeConfirmation,
  original => (situation, restore) =>
    restore.confirmClusterId === '' ? original(situation, restore) : undefined,
);

export const RESTORE_MUTATIONS: readonly Mutation[] = [
  without(
    'a quorum that can come back since it was approved to give it up is recovered',
    'lostVolumesAreFoundBeforeTheFence',
    returns(judgeConfirmation, undefined),
  ),
  without(
    'a cluster that has quorum is overwritten though nobody has confirmed it',
    'restoreIsConfirmedLate',
    returns(judgeConfirmation, undefined),
  ),
  without(
    'a cluster of which no quorum answers is taken for lost',
    'restoreIsMadeWhileNobodyAnswers',
    instead(
      isTotalLoss,
      () =>
        ({ membership }) =>
          !membership.known,
    ),
  ),
  without(
    'a restore that was refused begins when all is lost',
    'refusedRestoreSeesEverythingLost',
    returns(recordedRefusal, undefined),
  ),
  without(
    'a cluster whose status was lost is taken for a new one',
    'restoreIsMadeWhileTheStatusIsLost',
    returns(rebuiltIdentity, undefined),
    returns(idBefore, undefined),
    returns(judgeUnidentified, undefined),
    returns(identityIsRecorded, undefined),
  ),
  without(
    'no message says how to return from a restore whose status is lost',
    'statusIsLostInTheMiddleOfARestore',
    returns(restoreWithoutStatus, undefined),
  ),
  without('another id than that of the cluster confirms', 'restoresInEveryStateStandBesideEachOther', ANY_ID),
  without(
    'nodes that are registered anew are taken for lost at once',
    'nodesAreRegisteredAnew',
    instead(graceOfLossMs, original => observation => original(observation) && 0),
  ),
  without(
    'nodes that are off while a cluster sleeps are taken for lost when it wakes',
    'nodesAreOffWhileTheClusterSleeps',
    returns(goesToSleep, false),
  ),
  without('members are restored beside those that run', 'restoreIsConfirmedLate', returns(fence, [])),
  without(
    'a cluster is stopped for a restore whose pods nobody takes',
    'podsAreRefusedBeforeARestore',
    instead(fence, original => situation => original(situation)),
  ),
  without('a restore that was aborted goes on', 'restoreIsAborted', returns(abandoning, undefined)),
  without(
    'what is not the backup that its manifest describes is restored',
    'backupIsAnotherOne',
    instead(
      refuseUnlike,
      original =>
        (entry, { sha256, ...object }) =>
          original(entry, { ...object, sha256: entry.sha256 ?? sha256 }),
    ),
  ),
  without(
    'a restored member that lacks keys of the backup is opened',
    'backupHasFewerKeysThanWasSaid',
    instead(lackOfSeed, original => (observation, seed) => {
      const lack = original(observation, seed);
      return lack?.reason === 'KeysDiffer' ? undefined : lack;
    }),
  ),
  without(
    'a restored member is opened whose keys nobody has counted',
    'keysAreNotCountedForAWhile',
    instead(lackOfSeed, original => (observation, seed) => {
      const lack = original(observation, seed);
      return lack?.reason === 'KeysUnknown' ? undefined : lack;
    }),
  ),
  without(
    'a restore begins before what it gives up is saved',
    'restoreSavesFirst',
    returns(isUnsaved, false),
  ),
  without(
    'a cluster is stopped for a restore whose image cannot be pulled',
    'imageOfARestoreIsMissing',
    returns(tryImages, 'done'),
  ),
  without(
    'members of the newer minor begin on a backup of the older one that is asked for',
    'upgradeIsRolledBack',
    instead(
      restoredVersion,
      () =>
        ({ config, status }) =>
          status.currentVersion || config.version,
    ),
  ),
  without(
    'a cluster that is to be restored into is made empty',
    'clusterIsMadeToBeRestoredInto',
    NOTHING_IS_STAMPED,
  ),
  without(
    'a cluster of another operator is taken for a new one',
    'clusterOfAnotherOperator',
    returns(madeByOtherOperator, undefined),
  ),
];
