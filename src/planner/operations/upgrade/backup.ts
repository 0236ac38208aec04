/** The backup that is made before an upgrade: after the point of no return it may be the only way back. */
import { isOlderMinor } from '../../../api/versions/compare.ts';
import { howToAsk } from '../../../api/values/request-answers.ts';
import { parseTimestamp, timestamp } from '../../../api/values/time.ts';
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import { answerOf, backupToAsk, isRecent } from '../../checks/asked-backup.ts';
import { latestBackup } from '../../model/backups-of-cluster.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import type { Goal } from '../../model/upgrade-goal.ts';

/**
 * What comes before the first member is touched; undefined when that may be done. `isOpen`: nothing else stands in the way, so
 * that no backup is made for an upgrade that cannot begin.
 */
export function backUpFirst(
  situation: Situation,
  goal: Goal,
  {
    waiting,
    steps,
    isOpen,
  }: { readonly waiting: readonly PodFacts[]; readonly steps: readonly Step[]; readonly isOpen: boolean },
): Decision | undefined {
  const { cluster, backups = [], now } = situation;
  const { snapshotBefore } = cluster.config.upgrade;
  const isBegun = waiting.length < situation.members.length;
  if (snapshotBefore === 'Never' || isBegun || freshBackup(situation) !== undefined) return undefined;
  const purpose = purposeOf(situation);
  const place = backupToAsk(backups, now, purpose);
  if (place === undefined)
    return snapshotBefore === 'Required' ? blocked(missing(situation), steps) : undefined;
  const { name: backup, uid, asked } = place;
  const answer = answerOf(place, now, purpose);
  if (answer.kind === 'good') return undefined;
  if (answer.kind === 'bad') return blocked(failed(answer.fault), steps);
  if (answer.kind === 'waiting' && asked !== undefined)
    return operate('upgradeCluster', [{ kind: 'awaitBackup', backup, uid, asked }, ...steps]);
  if (!isOpen) return snapshotBefore === 'Required' ? blocked(missing(situation), steps) : undefined;
  const question = timestamp(now);
  const because = `the upgrade from ${goal.from} to ${goal.to}`;
  return operate('upgradeCluster', [
    { kind: 'requestBackup', backup, uid, asked: question, because },
    { kind: 'awaitBackup', backup, uid, asked: question },
    ...steps,
  ]);
}

/** What is reported of the backup while the upgrade is under way; nothing of one that was not wanted, unless nothing else leads back. */
export function noteOnBackup(situation: Situation, { from, to }: Goal): readonly string[] {
  const { cluster, backups = [], now } = situation;
  const isWanted = cluster.config.upgrade.snapshotBefore !== 'Never';
  const newest = latestBackup(backups)?.newest;
  if (newest !== undefined)
    return isWanted ? [`newest verified backup: ${newest.location} from ${newest.time}`] : [];
  // It is asked for before the first member is touched.
  if (isWanted && backupToAsk(backups, now, purposeOf(situation)) !== undefined) return [];
  const why = isWanted ? 'no EtcdBackup refers to this cluster' : 'spec.upgrade.snapshotBefore is Never';
  const isFinal = isOlderMinor(from, to);
  return isFinal
    ? [`no backup: ${why}, so nothing returns to the data of before once every member runs ${to}`]
    : isWanted
      ? [`no backup: ${why}`]
      : [];
}

/** What was asked before a restore gave the cluster other data was answered with the data of before. */
function purposeOf({ cluster }: Situation) {
  return { before: 'the upgrade', since: parseTimestamp(cluster.status.incarnation?.createdAt) ?? 0 };
}

function freshBackup({ backups = [], now }: Situation): string | undefined {
  const time = latestBackup(backups)?.newest?.time;
  return time !== undefined && isRecent(time, now) ? time : undefined;
}

function failed(fault: string): Obstacle {
  const message = `${fault}. The operator asks again after an hour; to make a backup earlier, ${howToAsk('backup')} to its workflow, or set spec.upgrade.snapshotBefore to Never`;
  return { reason: 'BackupFailed', message };
}

function missing({ backups = [] }: Situation): Obstacle {
  const newest = latestBackup(backups)?.newest?.time;
  const found = newest === undefined ? 'there is none' : `the newest is from ${newest}`;
  const advice =
    backups.length === 0
      ? 'create an EtcdBackup with spec.clusterRef'
      : 'the operator requests one when nothing else prevents the upgrade';
  return {
    reason: 'BackupMissing',
    message: `spec.upgrade.snapshotBefore is Required: the upgrade needs a verified backup that is less than an hour old, and ${found}; ${advice}`,
  };
}
