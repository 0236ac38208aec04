/** Guards of restores that are taken away: see mutations.ts. */
import { at, type Mutation, without } from './mutation.ts';

const PLAN = 'planner/operations/restore/index.ts';
const CONFIRMATION = 'planner/restore/confirmation.ts';

export const RESTORE_MUTATIONS: readonly Mutation[] = [
  without(
    'a cluster that has quorum is overwritten though nobody has confirmed it',
    'restoreIsConfirmedLate',
    at(CONFIRMATION, 'confirmed === id', 'true'),
  ),
  without(
    'a cluster of which no quorum answers is taken for lost',
    'restoreIsMadeWhileNobodyAnswers',
    at(CONFIRMATION, '(isTotalLoss(observation))', '!observation.membership.known'),
  ),
  without(
    'a restore that was refused begins when all is lost',
    'refusedRestoreSeesEverythingLost',
    at('planner/model/restore-of-cluster.ts', 'recordedRefusal(restore)', 'undefined'),
    at('planner/restore/resource.ts', 'recordedRefusal(restore)', 'undefined'),
  ),
  without(
    'a cluster whose status was lost is taken for a new one',
    'restoreIsMadeWhileTheStatusIsLost',
    at(CONFIRMATION, 'rebuiltIdentity(observation)?.clusterId', 'undefined'),
    at(CONFIRMATION, 'idBefore(observation)', 'undefined'),
    at(CONFIRMATION, 'rebuiltIdentity(observation) !== undefined', 'false'),
    at('planner/restore/preflight.ts', 'rebuiltIdentity(observation)', 'undefined'),
  ),
  without(
    'another id than that of the cluster confirms',
    'restoresInEveryStateStandBesideEachOther',
    at(CONFIRMATION, 'confirmed === id', "confirmed !== ''"),
  ),
  without(
    'nodes that are registered anew are taken for lost at once',
    'nodesAreRegisteredAnew',
    at(
      'planner/operations/membership/total-loss.ts',
      'Math.max(...seats.map(seat => graceLeftMs(observation, seat)))',
      '0',
    ),
  ),
  without(
    'nodes that are off while a cluster sleeps are taken for lost when it wakes',
    'nodesAreOffWhileTheClusterSleeps',
    at('planner/report/members.ts', 'goesToSleep(observation)', 'false'),
  ),
  without(
    'members are restored beside those that run',
    'restoreIsConfirmedLate',
    at(PLAN, 'pods.length === 0 && !isOpen', 'true'),
  ),
  without(
    'a restore that was aborted goes on',
    'restoreIsAborted',
    at(PLAN, "aborted?.operation !== 'restoreCluster' || aborted.subject !== uid", 'true'),
  ),
  without(
    'what is not the backup that its manifest tells of is restored',
    'backupIsAnotherOne',
    at('activities/restore/backup-object.ts', 'sha256 !== undefined && sha256 !== object.sha256', 'false'),
  ),
  without(
    'a restored member that lacks keys of the backup is opened',
    'backupHasFewerKeysThanWasSaid',
    at('planner/operations/restore/seed.ts', 'seedKeys.keys === keys', 'true'),
  ),
  without(
    'a restored member is opened whose keys nobody has counted',
    'keysAreNotCountedForAWhile',
    at('planner/operations/restore/seed.ts', 'expected === undefined', 'seedKeys?.ok !== true'),
  ),
  without(
    'a cluster that is to be restored into is made empty',
    'clusterIsMadeToBeRestoredInto',
    at('planner/operations/create/index.ts', 'restoredBy !== undefined', 'false'),
  ),
];
