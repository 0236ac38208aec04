/**
 * Upgrades: another version for one member at a time, with the gates of gates.ts between them; members that are not well
 * first, then followers, the leader last after it handed over to one that is upgraded already. Between two minors the
 * cluster must have arrived in the first: etcd 3.7 crashes on a log of 3.5 (docs/operations/upgrade.md). A member that does
 * not come up stops everything and is taken back.
 */
import { parseTimestamp, timestamp } from '../api/time.ts';
import { minorOf } from '../api/versions.ts';
import { blocked, operate } from './answers.ts';
import { lastBackup } from './backup/of-cluster.ts';
import { firstObstacle, membersAreOurs, namesAreFree, type Obstacle } from './checks.ts';
import { consentTo } from './consent.ts';
import type { Decision, Step } from './decision.ts';
import { nextMemberMayGo } from './gates.ts';
import { isHealthy, type Seat, seatsOf } from './membership/seats.ts';
import { memberNames } from './members.ts';
import type { Approval, Observation, PodFacts } from './observation.ts';
import { quorum } from './quorum.ts';
import { changesBesidesImage } from './rendering.ts';
import { membersWithoutPod, usableClaim } from './repair.ts';
import { handOver, isLeader, restart, whenGatesOpen } from './rolling.ts';
import { failedMember, isYoung, stoppedBy } from './upgrade-failure.ts';
import { arrived, canGoBack, type Goal, runs, upgradeGoal } from './upgrade-goal.ts';
import { mustSettle } from './versions.ts';

/** The leader raises the version of the cluster within seconds; so long after the last member came something is wrong. */
const AGREEMENT_PATIENCE_MS = 300_000;
/** A backup that is to come before an upgrade may be so old when it begins. */
const FRESH_BACKUP_MS = 3_600_000;

/** Goes on with a member that an upgrade has stopped or restarted; undefined when none is in between. Before repair. */
export function continueUpgrade(observation: Observation): Decision | undefined {
  if (observation.cluster.status.operation?.type !== 'upgradeCluster') return undefined;
  const goal = upgradeGoal(observation);
  if (goal.kind !== 'go') return undefined;
  if (firstObstacle(observation, [namesAreFree, membersAreOurs]) !== undefined) return undefined;
  const gone = membersWithoutPod(observation);
  if (gone.some(member => usableClaim(observation, member) === undefined)) return undefined;
  const starts = gone.flatMap(member => {
    const once = { version: goal.from, settledIn: minorOf(goal.from) };
    const version = versionFor(observation, goal, member);
    return startAgain(observation, member, mustSettle(goal.from, goal.to) ? once : { version });
  });
  if (starts.length > 0) return operate('upgradeCluster', [...starts, ...laterSteps(observation, goal)]);
  const [coming] = comingPods(observation, goal);
  if (coming === undefined) return undefined;
  if (coming.deleting) {
    const message = `waiting for ${coming.name} to be gone before it is started again`;
    return blocked({ reason: 'PodTerminating', message }, laterSteps(observation, goal));
  }
  return isYoung(observation, coming)
    ? operate('upgradeCluster', [
        { kind: 'awaitVersion', member: coming.name, version: comingVersion(observation, goal, coming) },
        ...laterSteps(observation, goal),
      ])
    : undefined;
}

/** What an upgrade does next; undefined when every member runs what is asked for, or when that cannot be had. */
export function planUpgrade(observation: Observation): Decision | undefined {
  const goal = upgradeGoal(observation);
  if (goal.kind !== 'go') return undefined;
  const failed = failedMember(observation, goal);
  if (failed !== undefined) return afterFailure(observation, goal, failed);
  const stopped = stoppedBy(observation, goal);
  if (stopped !== undefined) return blocked(stopped, laterSteps(observation, goal));
  const waiting = waitingPods(observation, goal);
  if (waiting.length === 0) return agreement(observation, goal);
  const steps = laterSteps(observation, goal);
  const unfit = ephemeral(observation, goal, waiting);
  if (unfit !== undefined) return blocked(unfit, steps);
  const [first] = waiting;
  if (first === undefined) return undefined;
  const unsaved = backedUpEnough(observation, waiting);
  if (unsaved !== undefined) return blocked(unsaved, steps);
  const consent = consented(observation, goal, waiting);
  if ('obstacle' in consent) return blocked(consent.obstacle, steps);
  const { approval } = consent;
  if (isBroken(first) && othersAreWell(observation, first)) return operate('upgradeCluster', steps, approval);
  const obstacle = gates(observation, goal);
  return whenGatesOpen(observation, {
    operation: 'upgradeCluster',
    obstacle,
    steps,
    member: first.name,
    approval,
  });
}

/** A version that cannot be had is said when nothing else is to be done; nothing is changed for it. */
export function planRefusedUpgrade(observation: Observation): Decision | undefined {
  const goal = upgradeGoal(observation);
  return goal.kind === 'refused' ? blocked({ reason: goal.reason, message: goal.message }) : undefined;
}

function gates(observation: Observation, { from, to }: Goal): Obstacle | undefined {
  const seats = seatsOf(observation);
  const seen = seats.flatMap(({ probe }) => (probe === undefined ? [] : [probe.version]));
  const isBegun = seats.some(seat => runs(seat, to));
  const soakMs = isBegun ? observation.cluster.config.upgrade.soakSeconds * 1_000 : 0;
  return nextMemberMayGo(observation, { versions: [from, to, ...seen], soakMs });
}

/** Before the first member: after the point of no return a backup is the only way back. */
function backedUpEnough(observation: Observation, waiting: readonly PodFacts[]): Obstacle | undefined {
  const { cluster, now, backups = [] } = observation;
  const isBegun = waiting.length < seatsOf(observation).length;
  if (cluster.config.upgrade.snapshotBefore !== 'Required' || isBegun) return undefined;
  const newest = parseTimestamp(lastBackup(backups)?.lastBackup?.time);
  if (newest !== undefined && now - newest < FRESH_BACKUP_MS) return undefined;
  const found = newest === undefined ? 'there is none' : `the newest is of ${timestamp(newest)}`;
  const place = backups[0]?.name;
  const advice =
    place === undefined
      ? 'make an EtcdBackup with spec.clusterRef'
      : `send the message backup to EtcdBackup ${place}`;
  return {
    reason: 'BackupMissing',
    message: `spec.upgrade.snapshotBefore is Required: a verified backup that is younger than an hour comes first, and ${found}; ${advice}`,
  };
}

/** A supervised upgrade asks before the first and before the last member; handing over leadership needs no consent. */
function consented(
  observation: Observation,
  { from, to }: Goal,
  waiting: readonly PodFacts[],
): { readonly approval?: Approval } | { readonly obstacle: Obstacle } {
  const [first] = waiting;
  if (observation.cluster.config.upgrade.strategy !== 'Supervised' || first === undefined) return {};
  const others = seatsOf(observation).length - waiting.length;
  const isLast = waiting.length === 1 && others > 0;
  if ((others > 0 && !isLast) || (others > 0 && isLeader(observation, first.name))) return {};
  const what = isLast ? 'finish' : 'begin';
  const message = isLast
    ? `${first.name} is the last member that runs ${from}: ${pointOfNoReturn(from, to) ?? 'it completes the upgrade'}`
    : `an upgrade from ${from} to ${to} is asked for and supervised`;
  return consentTo(
    observation,
    { operation: 'upgradeCluster', ids: [what, from, to] },
    { reason: 'AwaitingApproval', message },
  );
}

/** What people must know before the last member of a minor; undefined within a minor. */
function pointOfNoReturn(from: string, to: string): string | undefined {
  const minor = minorOf(to);
  return minorOf(from) === minor
    ? undefined
    : `the point of no return: after it no member can go back to ${minorOf(from)}`;
}

/** Everything that is left of this hop, and a word on those that follow. */
function laterSteps(observation: Observation, goal: Goal): Step[] {
  const waiting = waitingPods(observation, goal);
  const names = waiting.map(pod => pod.name);
  const steps = waiting.flatMap((pod, index) => [
    ...handOver(observation, names, pod.name),
    ...move(observation, pod, { from: goal.from, to: goal.to, isLast: index === waiting.length - 1 }),
  ]);
  const minor = minorOf(goal.to) ?? '';
  const members = seatsOf(observation).map(({ name }) => name);
  const agree: Step[] = minorOf(goal.from) === minor ? [] : [{ kind: 'awaitAgreement', members, minor }];
  return [...steps, ...agree];
}

/** One member to another version: in its pod where only the image differs, else in a new pod on its volume. */
function move(
  observation: Observation,
  pod: PodFacts,
  { from, to, isLast }: { readonly from: string; readonly to: string; readonly isLast: boolean },
): Step[] {
  const warning = isLast ? pointOfNoReturn(from, to) : undefined;
  const because = `from ${from} to ${to}${warning === undefined ? '' : `, ${warning}`}`;
  const { name: member, uid } = pod;
  const inPlace = changesBesidesImage(observation, pod, to).length === 0;
  const settle = mustSettle(from, to);
  if (inPlace && !isUnsettled(pod, from, to)) {
    return [
      { kind: 'replaceImage', member, uid, version: to, because },
      { kind: 'awaitVersion', member, version: to },
    ];
  }
  const claimUid = usableClaim(observation, member)?.uid ?? '';
  const why = settle
    ? `one more start with ${from}, which leaves behind what ${minorOf(to)} cannot read`
    : because;
  const stop: Step = { kind: 'stopMember', member, uid, claimUid, purpose: 'upgrade', because: why };
  if (!settle) return [stop, ...startAgain(observation, member, { version: to })];
  return [
    stop,
    ...startAgain(observation, member, { version: from, settledIn: minorOf(from) }),
    { kind: 'replaceImage', member, uid: 'as made', version: to, because },
    { kind: 'awaitVersion', member, version: to },
  ];
}

/** The member is to be started once more in the old minor before it may leave it. */
function isUnsettled(pod: PodFacts, from: string, to: string): boolean {
  return mustSettle(from, to) && pod.settledIn !== minorOf(from);
}

function startAgain(
  observation: Observation,
  member: string,
  { version, settledIn }: { readonly version: string; readonly settledIn?: string | undefined },
): Step[] {
  return restart(observation, member).map(step =>
    step.kind === 'restartMember'
      ? { ...step, version, ...(settledIn === undefined ? {} : { settledIn }) }
      : { kind: 'awaitVersion', member, version },
  );
}

/** Pods that are still to be moved: the broken first, followers in the order of their serials, the leader last. */
function waitingPods(observation: Observation, goal: Goal): PodFacts[] {
  const pods = ownPods(observation).filter(pod => pod.version !== goal.to && !pod.deleting);
  const rank = (pod: PodFacts): number => (isBroken(pod) ? 0 : isLeader(observation, pod.name) ? 2 : 1);
  return pods.sort((a, b) => rank(a) - rank(b));
}

/** Pods on their way: they are to run a version and do not say so yet. */
function comingPods(observation: Observation, goal: Goal): PodFacts[] {
  return ownPods(observation).filter(pod => {
    const version = comingVersion(observation, goal, pod);
    const probe = observation.probes[pod.name];
    const answer = probe?.answered === true ? probe : undefined;
    return pod.deleting || (pod.version === version && !runs({ pod, probe: answer }, version));
  });
}

/** What a pod that there is was made to run: a member that is started once more runs the old version first. */
function comingVersion(observation: Observation, goal: Goal, pod: PodFacts): string {
  return pod.version === goal.from && pod.settledIn !== undefined
    ? goal.from
    : versionFor(observation, goal, pod.name);
}

/** What a member is to run: the target, or what it ran before when it has failed with that. */
function versionFor({ cluster }: Observation, { from, to }: Goal, member: string): string {
  const { upgradeFailure: failure } = cluster.status;
  const hasFailed =
    failure?.member === member && failure.version === to && failure.generation === cluster.generation;
  return hasFailed ? from : to;
}

function ownPods(observation: Observation): PodFacts[] {
  const names = memberNames(observation);
  return observation.pods.filter(pod => pod.owned && names.includes(pod.name));
}

/** It cannot start: stopping it takes nothing from anybody, and another version may mend it. */
function isBroken(pod: PodFacts): boolean {
  return pod.trouble !== undefined && !pod.ready && !pod.deleting;
}

function othersAreWell(observation: Observation, pod: PodFacts): boolean {
  const seats = seatsOf(observation);
  const others = seats.filter(({ name }) => name !== pod.name);
  return (
    others.length >= quorum(seats.length) &&
    others.every((seat: Seat) => isHealthy(seat) && seat.pod?.ready === true)
  );
}

/** Whether the member would have to get a new pod, and has no volume to start again on. */
function wouldLoseData(
  observation: Observation,
  pod: PodFacts,
  { from, to }: Pick<Goal, 'from' | 'to'>,
): boolean {
  if (usableClaim(observation, pod.name) !== undefined) return false;
  return changesBesidesImage(observation, pod, to).length > 0 || isUnsettled(pod, from, to);
}

/** A pod that holds its member's only data may be given another image, and never be deleted. */
function ephemeral(observation: Observation, goal: Goal, waiting: readonly PodFacts[]): Obstacle | undefined {
  const lost = waiting.filter(pod => wouldLoseData(observation, pod, goal));
  if (lost.length === 0) return undefined;
  const names = lost.map(pod => pod.name).join(', ');
  return {
    reason: 'EphemeralMembers',
    message: `${goal.to} needs other pods than ${goal.from} (${changesBesidesImage(observation, lost[0] as PodFacts, goal.to)[0] ?? 'each member is to be started once more'}), and ${names} has no volume to start again on; make a new cluster with volumes and restore a backup into it, or set spec.version to ${goal.from} again`,
  };
}

function afterFailure(observation: Observation, goal: Goal, failed: PodFacts): Decision {
  const { from, to } = goal;
  const why = `${failed.name} does not come up with etcd ${to}: ${failed.trouble === undefined ? 'it is not ready after five minutes' : `${failed.trouble.reason}: ${failed.trouble.message}`}`;
  if (!canGoBack(observation, goal) || failed.version === from) {
    const message = `${why}. It cannot be taken back to ${from}${failed.version === from ? ' either' : ': the cluster has agreed on the newer minor'}; correct the cause, or restore the backup that was made before`;
    return blocked({ reason: 'UpgradeFailed', message }, laterSteps(observation, goal));
  }
  if (!observation.cluster.config.upgrade.rollbackOnFailure) {
    const message = `${why}. It is left as it is, because spec.upgrade.rollbackOnFailure is false; correct the cause, or set spec.version to ${from}`;
    return blocked({ reason: 'UpgradeFailed', message }, laterSteps(observation, goal));
  }
  if (wouldLoseData(observation, failed, { from: to, to: from })) {
    const [change] = changesBesidesImage(observation, failed, from);
    const message = `${why}. It is left as it is: to be taken back to ${from} it needs a new pod (${change}), and it has no volume to start again on; correct the cause, or write that setting as it was`;
    return blocked({ reason: 'UpgradeFailed', message }, laterSteps(observation, goal));
  }
  return operate('upgradeCluster', move(observation, failed, { from: to, to: from, isLast: false }));
}

/** Every member runs the version: now the cluster and its data are to arrive in it. */
function agreement(observation: Observation, goal: Goal): Decision | undefined {
  const minor = minorOf(goal.to) ?? '';
  const seats = seatsOf(observation);
  const behind = seats.filter(seat => runs(seat, goal.to) && !arrived(seat, minor));
  if (behind.length === 0 || behind.length + seats.filter(seat => arrived(seat, minor)).length < seats.length)
    return undefined;
  const members = seats.map(({ name }) => name);
  const step: Step = { kind: 'awaitAgreement', members, minor };
  const youngest = Math.max(...seats.map(({ pod }) => pod?.readyChangedAt ?? pod?.createdAt ?? 0));
  if (observation.now - youngest < AGREEMENT_PATIENCE_MS) return operate('upgradeCluster', [step]);
  const names = behind.map(({ name }) => name).join(', ');
  const message = `every member runs ${goal.to}, and ${names} has not heard that the cluster arrived in ${minor}; the leader raises it when every member answers it`;
  return blocked({ reason: 'ClusterVersionBehind', message }, [step]);
}
