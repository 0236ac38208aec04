/** Guards of restores that are taken away: see mutations.ts. */
import { at, type Mutation, returns, without } from './mutation.ts';

export const RESTORE_MUTATIONS: readonly Mutation[] = [
  without(
    'a cluster that has quorum is overwritten though nobody has confirmed it',
    'restoreIsConfirmedLate',
    at('judgeConfirmation', 'confirmed === id', 'true'),
  ),
  without(
    'a cluster of which no quorum answers is taken for lost',
    'restoreIsMadeWhileNobodyAnswers',
    at('judgeConfirmation', 'isTotalLoss(situation)', '!situation.membership.known'),
  ),
  without(
    'a restore that was refused begins when all is lost',
    'refusedRestoreSeesEverythingLost',
    returns('recordedRefusal', 'undefined'),
  ),
  without(
    'a cluster whose status was lost is taken for a new one',
    'restoreIsMadeWhileTheStatusIsLost',
    at('clusterIdOf', 'rebuiltIdentity(situation)?.clusterId', 'undefined'),
    returns('idBefore', 'undefined'),
    at('judgeUnidentified', 'rebuiltIdentity(situation) !== undefined', 'false'),
    at('judgeUnidentified', 'situation.pods.some(({ owned }) => owned)', 'false'),
    at('identityIsRecorded', 'rebuiltIdentity(situation)', 'undefined'),
  ),
  without(
    'no message says how to return from a restore whose status is lost',
    'statusIsLostInTheMiddleOfARestore',
    at('restoreWithoutStatus', 'kept.length === 0', 'true'),
  ),
  without(
    'another id than that of the cluster confirms',
    'restoresInEveryStateStandBesideEachOther',
    at('judgeConfirmation', 'confirmed === id', "confirmed !== ''"),
  ),
  without(
    'nodes that are registered anew are taken for lost at once',
    'nodesAreRegisteredAnew',
    at('graceOfLossMs', 'Math.max(...views.map(view => graceLeftMs(observation, view)))', '0'),
  ),
  without(
    'nodes that are off while a cluster sleeps are taken for lost when it wakes',
    'nodesAreOffWhileTheClusterSleeps',
    at('lossTime', 'goesToSleep(situation)', 'false'),
  ),
  without(
    'members are restored beside those that run',
    'restoreIsConfirmedLate',
    at('fence', 'pods.length === 0 && !isOpen', 'true'),
  ),
  without(
    'a cluster is stopped for a restore whose pods nobody takes',
    'podsAreRefusedBeforeARestore',
    at('fence', 'trial && { trial }', '{}'),
  ),
  without(
    'a restore that was aborted goes on',
    'restoreIsAborted',
    at('abandoning', "aborted?.operation !== 'restoreCluster' || aborted.subject !== uid", 'true'),
  ),
  without(
    'what is not the backup that its manifest describes is restored',
    'backupIsAnotherOne',
    at('refuseUnlike', 'sha256 !== undefined && sha256 !== object.sha256', 'false'),
  ),
  without(
    'a restored member that lacks keys of the backup is opened',
    'backupHasFewerKeysThanWasSaid',
    at('lackOfSeed', 'seedKeys.keys === keys', 'true'),
  ),
  without(
    'a restored member is opened whose keys nobody has counted',
    'keysAreNotCountedForAWhile',
    at('lackOfSeed', 'expected === undefined', 'seedKeys?.ok !== true'),
  ),
  without(
    'a cluster that is to be restored into is made empty',
    'clusterIsMadeToBeRestoredInto',
    at('planIdentity', 'restoredBy !== undefined', 'false'),
  ),
  without(
    'a cluster of another operator is taken for a new one',
    'clusterOfAnotherOperator',
    at('planIdentity', 'other !== undefined', 'false'),
  ),
];
