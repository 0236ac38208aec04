/**
 * The backup that is made before an upgrade: after the point of no return it is the only way back. An EtcdBackup of the cluster
 * is asked for it and makes it as one of its own runs; a run that began after the question is the answer.
 */
import { howToAsk } from '../../../api/values/request-answers.ts';
import { isAhead, parseTimestamp, timestamp } from '../../../api/values/time.ts';
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import { type BackupOfCluster, latestBackup } from '../../model/backups-of-cluster.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import type { Goal } from '../../model/upgrade-goal.ts';

/** A backup may be so old when the upgrade begins; what was answered badly, or not at all, is asked again after as long. */
const FRESH_MS = 3_600_000;
/** What a run may take beyond its limit until it has begun and ended. */
const GRACE_MS = 120_000;

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
  const { cluster, now } = situation;
  const { snapshotBefore } = cluster.config.upgrade;
  const isBegun = waiting.length < situation.members.length;
  if (snapshotBefore === 'Never' || isBegun || freshBackup(situation) !== undefined) return undefined;
  const place = placeOf(situation);
  if (place === undefined)
    return snapshotBefore === 'Required' ? blocked(missing(situation), steps) : undefined;
  const { name: backup, uid, asked } = place;
  const answer = answerOf(place, now);
  if (answer.kind === 'good') return undefined;
  if (answer.kind === 'bad') return blocked(answer.obstacle, steps);
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

/** What is reported of the backup while the upgrade is under way; nothing of one that was not wanted. */
export function noteOnBackup(situation: Situation): readonly string[] {
  const { snapshotBefore } = situation.cluster.config.upgrade;
  if (snapshotBefore === 'Never') return [];
  const newest = latestBackup(situation.backups ?? [])?.newest;
  if (newest !== undefined) return [`newest verified backup: ${newest.location} from ${newest.time}`];
  return placeOf(situation) === undefined ? ['no backup: no EtcdBackup refers to this cluster'] : [];
}

/** Whether a run that began since the question has ended. One that a clock that was ahead has dated has not. */
export function hasAnswered(
  { asked, lastRun }: Pick<BackupOfCluster, 'lastRun'> & { asked: string },
  now: number,
): boolean {
  return isSince(lastRun?.startedAt, parseTimestamp(asked) ?? 0, now);
}

function isSince(time: string | undefined, since: number, now: number): boolean {
  const at = parseTimestamp(time);
  return at !== undefined && at >= since && !isAhead(at, now);
}

function freshBackup({ backups = [], now }: Situation): string | undefined {
  const time = latestBackup(backups)?.newest?.time;
  return time !== undefined && isRecent(time, now) ? time : undefined;
}

function isRecent(time: string, now: number): boolean {
  return isSince(time, now - FRESH_MS + 1, now);
}

/** Which EtcdBackup is asked: the one that was asked already, else the one with the newest backup, else the first by name. */
function placeOf({ backups = [], now }: Situation): BackupOfCluster | undefined {
  const staying = backups
    .filter(({ deleting }) => deleting !== true)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return staying.find(backup => answerOf(backup, now).kind !== 'none') ?? latestBackup(staying) ?? staying[0];
}

type Answer =
  /** `none`: nothing was asked, or so long ago that it is to be asked again. */
  { readonly kind: 'none' | 'waiting' | 'good' } | { readonly kind: 'bad'; readonly obstacle: Obstacle };

/** What has become of the last question. */
function answerOf({ name, asked, lastRun, newest, timeoutSeconds }: BackupOfCluster, now: number): Answer {
  const askedAt = parseTimestamp(asked);
  if (asked === undefined || askedAt === undefined) return { kind: 'none' };
  const patienceMs = timeoutSeconds * 1_000 + GRACE_MS;
  if (now - askedAt >= patienceMs + FRESH_MS) return { kind: 'none' };
  if (!hasAnswered({ asked, lastRun }, now)) {
    return now - askedAt <= patienceMs
      ? { kind: 'waiting' }
      : bad(
          `EtcdBackup ${name} was asked for a backup before the upgrade at ${asked} and has not made one: see its status`,
        );
  }
  if (isSince(newest?.time, askedAt, now)) return { kind: 'good' };
  const { outcome = 'Failed', message = 'no reason was given', completedAt = asked } = lastRun ?? {};
  if (!isRecent(completedAt, now)) return { kind: 'none' };
  const why =
    outcome === 'Succeeded'
      ? 'its backup is not a verified backup of this cluster'
      : `${outcome}: ${message}`;
  return bad(`EtcdBackup ${name} did not make the backup before the upgrade: ${why}`);
}

function bad(fault: string): Answer {
  const message = `${fault}. The operator asks again after an hour; to make a backup earlier, ${howToAsk('backup')} to its workflow, or set spec.upgrade.snapshotBefore to Never`;
  return { kind: 'bad', obstacle: { reason: 'BackupFailed', message } };
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
