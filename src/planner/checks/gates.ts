/**
 * The gates between two members of a rollout or an upgrade: nothing is done to the next member until the cluster is as good
 * as new. The order is that of etcd's own advice for rolling changes (etcd documentation, "Upgrade etcd": every member healthy
 * before the next one is touched), with what an operator can see besides: learners, alarms, lag, readiness, and whether
 * the members hold the same keys.
 */
import { alarmText } from '../model/alarms.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import { isAtLeast } from '../../api/versions/compare.ts';
import type { Obstacle } from '../model/decision.ts';
import { noForeignMembers } from './preflight.ts';
import type { MemberView } from '../model/member-view.ts';
import type { PodFacts } from '../model/observation.ts';
import type { Situation, SituationWithoutGoal } from '../model/situation.ts';
import { certificatesAreGood } from './certificates.ts';

/** Entries of the log that a member may lack, or have and not have applied, and still count as level with the others. */
export const MOST_LAG = 1_000;
/** The same leader in the same term for so long; also how long etcd takes to count a member as connected. */
const SAME_TERM_MS = 5_000;
/** Every member has been ready for so long. Kubernetes says when in whole seconds, hence one more. */
const QUIET_MS = 11_000;
/** Of the quota: beyond, a member that is restarted may find no room. */
const FULLEST = 0.8;
/** From this release on a compaction keeps what earlier ones dropped, so hashes across it may differ (etcd 18274). */
export const SAME_COMPACTION_SINCE = '3.5.16';

export interface Gate {
  /** Alarms that the change itself is the cure of. */
  readonly tolerated?: RegExp | undefined;
  /** Versions that members may run; without them all must run the same. */
  readonly versions?: readonly string[] | undefined;
  /** How long every member must have been well, when that is more than usual. Milliseconds. */
  readonly soakMs?: number;
}

/** What keeps the next member from being touched, or nothing. */
export function nextMemberMayGo(situation: Situation, gate: Gate = {}): Obstacle | undefined {
  const uncertified = certificatesAreGood(situation);
  if (uncertified !== undefined) return uncertified;
  const { membership } = situation;
  if (!membership.known) return { reason: 'NoQuorum', message: `no quorum answers: ${membership.message}` };
  const { members: views } = situation;
  const gates: readonly (() => Obstacle | undefined)[] = [
    () => noForeignMembers(views),
    () => unfinished(views),
    () => unhealthy(views, gate.tolerated),
    () => leaderUnstable(situation, views),
    () => behind(views),
    () => unread(views),
    () => mixed(views, gate.versions),
    () => full(situation, views, gate.tolerated),
    () => unready(views),
    () => unquiet(situation, views, gate.soakMs ?? 0),
    () => different(situation, views),
  ];
  for (const passes of gates) {
    const obstacle = passes();
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

/**
 * What keeps an upgrade from having ended when every member runs the new version, or nothing: the last one is to stay ready, as
 * those before it did, and all are to hold the same keys. A kubelet calls a container that it has started for another image
 * ready, not ready a second later, and ready again (watched in 1.35).
 */
export function upgradeMayEnd(situation: SituationWithoutGoal): Obstacle | undefined {
  const { members: all } = situation;
  return (
    unhealthy(all, /NOSPACE/) ??
    unread(all) ??
    unready(all) ??
    unquiet(situation, all, 0) ??
    different(situation, all)
  );
}

/** Since when the leader of now leads in the term of now, as far as was seen (ms since the epoch). */
export function leaderSince({
  now,
  cluster,
  leader,
}: Pick<Situation, 'now' | 'cluster' | 'leader'>): number | undefined {
  if (leader === undefined) return undefined;
  const { status } = cluster;
  const same = status.raftTerm === leader.probe.raftTerm && status.leader === leader.name;
  const since = same ? parseTimestamp(status.leaderSince) : undefined;
  // Noted by a replica of the operator whose clock is ahead: it has not led since the future.
  return since === undefined || since > now ? now : since;
}

/** Learners, and members that were added and have not started. */
export function unfinished(views: readonly MemberView[]): Obstacle | undefined {
  const found = views.filter(view => view.isLearner || !view.started);
  return obstacle('LearnerPresent', found, 'is not a voting member yet');
}

/** Members that do not answer, or raise an alarm that is not tolerated. */
export function unhealthy(views: readonly MemberView[], tolerated: RegExp | undefined): Obstacle | undefined {
  const faults = views.flatMap(({ name, probe }) => {
    if (probe === undefined) return [`${name} does not answer`];
    const errors = probe.errors.filter(error => tolerated?.test(error) !== true);
    return errors.length > 0 ? [`${name}: ${errors.map(alarmText).join(', ')}`] : [];
  });
  return faults.length === 0 ? undefined : { reason: 'MembersUnhealthy', message: faults.join('; ') };
}

/** The members name different leaders, or a leader that has just been elected. */
export function leaderUnstable(
  situation: SituationWithoutGoal,
  views: readonly MemberView[],
): Obstacle | undefined {
  const leaders = new Set(views.map(({ probe }) => `${probe?.leaderId}/${probe?.raftTerm}`));
  if (leaders.size !== 1)
    return { reason: 'LeaderUnclear', message: 'the members do not agree on leader and term' };
  const waitMs = SAME_TERM_MS - (situation.now - (leaderSince(situation) ?? situation.now));
  if (waitMs <= 0) return undefined;
  return { reason: 'LeaderNew', message: 'the leader was elected less than 5 s ago', waitMs };
}

/** Members that lack entries of the log. */
export function behind(views: readonly MemberView[]): Obstacle | undefined {
  const indexes = views.map(({ probe }) => Number(probe?.raftIndex ?? 0));
  const newest = Math.max(...indexes);
  const lagging = views.filter(({ probe }) => newest - Number(probe?.raftAppliedIndex ?? 0) >= MOST_LAG);
  return obstacle('MembersBehind', lagging, `is ${MOST_LAG} or more log entries behind`);
}

/** Members through which nothing can be read. */
export function unread(views: readonly MemberView[]): Obstacle | undefined {
  const faults = views.flatMap(({ name, probe }) =>
    probe === undefined || probe.read.ok ? [] : [`${name}: ${probe.read.message}`],
  );
  return faults.length === 0 ? undefined : { reason: 'MembersUnhealthy', message: faults.join('; ') };
}

/** Members that run other versions than those that are allowed. */
export function mixed(
  views: readonly MemberView[],
  allowed: readonly string[] | undefined,
): Obstacle | undefined {
  const versions = [...new Set(views.map(({ probe }) => probe?.version ?? ''))];
  const asPlanned =
    allowed === undefined ? versions.length === 1 : versions.every(each => allowed.includes(each));
  return asPlanned
    ? undefined
    : { reason: 'VersionsDiffer', message: `the members run different versions: ${versions.join(', ')}` };
}

/** The versions that members run: to be allowed for what may be done while they differ. */
export function versionsOf(views: readonly MemberView[]): readonly string[] {
  return [...new Set(views.flatMap(({ probe }) => (probe === undefined ? [] : [probe.version])))];
}

/** Whether members that compact the same may hash it differently. */
export function compactDifferently(versions: readonly string[]): boolean {
  return new Set(versions.map(version => isAtLeast(version, SAME_COMPACTION_SINCE))).size > 1;
}

/** A database that is nearly full. */
export function full(
  { cluster }: SituationWithoutGoal,
  views: readonly MemberView[],
  tolerated: RegExp | undefined,
): Obstacle | undefined {
  if (tolerated?.test('NOSPACE') === true) return undefined;
  const { quotaBackendBytes: quota } = cluster.config.etcd;
  const found = views.filter(({ probe }) => (probe?.dbSize ?? 0) >= FULLEST * quota);
  return obstacle(
    'DatabaseNearlyFull',
    found,
    `has a database of more than ${FULLEST * 100} % of the quota of ${quota} bytes; raise spec.etcd.quotaBackendBytes, or compact and defragment`,
  );
}

/** Members whose pods are not ready, or go. */
export function unready(views: readonly MemberView[]): Obstacle | undefined {
  const found = views.filter(({ pod }) => pod === undefined || !pod.ready || pod.deleting);
  const [because] = found.flatMap(({ pod }) => pod?.notReadyBecause ?? []);
  return obstacle('MembersNotReady', found, `has no ready pod${because === undefined ? '' : `: ${because}`}`);
}

/** Members that have compacted alike must hold the same keys. It costs reading every key, so it is asked for when all else is well. */
export function different(
  { hashes }: SituationWithoutGoal,
  views: readonly MemberView[],
): Obstacle | undefined {
  // One member holds what it holds.
  if (views.length < 2) return undefined;
  if (hashes === undefined) {
    const members = views.map(({ name, pod }) => ({ name, uid: pod?.uid ?? '' }));
    const message = 'the data of the members has not been compared recently';
    return { reason: 'DataNotCompared', message, first: { kind: 'compareKeys', members } };
  }
  const unknown = views.flatMap(({ name }) => {
    const fact = hashes[name];
    return fact?.ok === true ? [] : [`${name}: ${fact?.message ?? 'not asked'}`];
  });
  if (unknown.length > 0) {
    const message = `the data of the members cannot be compared: ${unknown.join('; ')}`;
    return { reason: 'DataNotCompared', message };
  }
  const groups = Map.groupBy(views, ({ probe }) =>
    isAtLeast(probe?.version ?? '', SAME_COMPACTION_SINCE) ? 'new' : 'old',
  );
  const found = [...groups.values()].flatMap(group => unequal(group, hashes));
  if (found.length === 0) return undefined;
  const message = `the members do not have the same data (HashKV): ${found.join(', ')}; find out which member is correct before any member is restarted (docs/operations/upgrade.md)`;
  return { reason: 'DataDiffers', message };
}

/** What the members of a group say, when those that have compacted alike do not say the same. */
export function unequal(views: readonly MemberView[], hashes: NonNullable<Situation['hashes']>): string[] {
  const known = views.flatMap(({ name }) => {
    const fact = hashes[name];
    return fact?.ok === true
      ? [{ name, ...fact }]
      : /* v8 ignore next -- `different` has said so before */ [];
  });
  const comparable = Map.groupBy(known, ({ compactRevision }) => compactRevision);
  return [...comparable.values()]
    .filter(group => new Set(group.map(({ hash }) => hash)).size > 1)
    .flatMap(group => group.map(({ name, hash }) => `${name} ${hash}`));
}

/** Members that have not been ready for long enough. */
export function unquiet(
  situation: SituationWithoutGoal,
  views: readonly MemberView[],
  soakMs: number,
): Obstacle | undefined {
  const { now } = situation;
  const youngest = Math.max(
    ...views.map(({ pod }) => Math.max(readySince(situation, pod), pod?.imageReplacedAt ?? 0)),
  );
  const quietMs = Math.max(QUIET_MS, soakMs);
  const waitMs = Math.min(quietMs, quietMs - (now - youngest));
  if (waitMs <= 0) return undefined;
  const message = `not every member has been ready for ${Math.max(10, soakMs / 1_000)} s`;
  const ahead = views.flatMap(({ pod }) => clockAhead(situation, pod));
  return { reason: 'Soaking', message: [message, ...ahead].join('; '), waitMs };
}

/**
 * Since when the pod is ready (ms since the epoch), as its kubelet says. What lies in the future says only that its clock is ahead of
 * ours: then it counts since when we have seen every member healthy.
 */
function readySince({ now, cluster }: SituationWithoutGoal, pod: PodFacts | undefined): number {
  const changedAt = pod?.readyChangedAt ?? pod?.createdAt ?? now;
  if (changedAt <= now) return changedAt;
  const healthy = cluster.status.conditions?.find(
    ({ type, status }) => type === 'Healthy' && status === 'True',
  );
  return Math.max(parseTimestamp(healthy?.lastTransitionTime) ?? now, pod?.createdAt ?? 0);
}

/** Said, since users who compare the pod's conditions with their watch see something else. */
function clockAhead({ now }: SituationWithoutGoal, pod: PodFacts | undefined): string[] {
  const aheadMs = (pod?.readyChangedAt ?? now) - now;
  if (pod === undefined || aheadMs <= 0) return [];
  const seconds = Math.ceil(aheadMs / 1_000);
  return [
    `the clock of node ${pod.node ?? ''} is at least ${seconds} s ahead of the operator's clock: correct it`,
  ];
}

function obstacle(reason: ObstacleReason, found: readonly MemberView[], fault: string): Obstacle | undefined {
  return found.length === 0
    ? undefined
    : { reason, message: `${found.map(({ name }) => name).join(', ')} ${fault}` };
}
