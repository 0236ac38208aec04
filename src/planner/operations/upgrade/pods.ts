/** Which pods an upgrade still has to move, which are on their way, and which version each is to run. */
import { minorOf } from '../../../api/versions/compare.ts';
import { isHealthy, type MemberView } from '../../model/member-view.ts';
import { memberNames } from '../../model/member-names.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { quorum } from '../../checks/quorum.ts';
import { isLeader } from '../rollout/next-member.ts';
import { usableClaim } from '../../checks/missing-pods.ts';
import { goesDown, runs } from './goal.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { needsExtraRestart } from './extra-restart.ts';

/** The member is to be started once more in the old minor before it may leave it. */
export function awaitsExtraRestart(pod: PodFacts, from: string, to: string): boolean {
  return needsExtraRestart(from, to) && pod.settledIn !== minorOf(from);
}

/** Pods that are still to be moved: the broken first, followers in the order of their serials, the leader last. */
export function waitingPods(situation: Situation, goal: Goal): PodFacts[] {
  const pods = ownPods(situation).filter(pod => pod.version !== goal.to && !pod.deleting);
  const rank = (pod: PodFacts): number => (isBroken(pod) ? 0 : isLeader(situation, pod.name) ? 2 : 1);
  return pods.sort((a, b) => rank(a) - rank(b));
}

/** Pods on their way: they are to run a version and do not say so yet. */
export function comingPods(situation: Situation, goal: Goal): PodFacts[] {
  return ownPods(situation).filter(pod => {
    const version = comingVersion(situation, goal, pod);
    const probe = situation.probes[pod.name];
    const answer = probe?.answered === true ? probe : undefined;
    return pod.deleting || (pod.version === version && !runs({ pod, probe: answer }, version));
  });
}

/** What a pod that there is was made to run: a member that is started once more runs the old version first. */
export function comingVersion(situation: Situation, goal: Goal, pod: PodFacts): string {
  const isSettled = needsExtraRestart(goal.from, goal.to) && !awaitsExtraRestart(pod, goal.from, goal.to);
  return pod.version === goal.from && isSettled ? goal.from : versionFor(situation, goal, pod.name);
}

/** What a member is to run: the target, or what it ran before when it has failed with that. */
function versionFor({ cluster }: Situation, { from, to }: Goal, member: string): string {
  const { upgradeFailure: failure } = cluster.status;
  const hasFailed =
    failure?.member === member && failure.version === to && failure.generation === cluster.generation;
  return hasFailed ? from : to;
}

/**
 * What a member without a pod is started with. On the way down only one that ran the older minor, or that the operator has stopped for it,
 * is known to start with it: the data of any other may still be of the newer one.
 */
export function startVersion(situation: Situation, goal: Goal, member: string): string {
  const version = versionFor(situation, goal, member);
  const claim = usableClaim(situation, member);
  const isKnown = claim?.stopped !== undefined || minorOf(claim?.version ?? '') === minorOf(version);
  return goesDown(goal) && !isKnown ? goal.from : version;
}

function ownPods(situation: Situation): PodFacts[] {
  const names = memberNames(situation);
  return situation.pods.filter(pod => pod.owned && names.includes(pod.name));
}

/** It cannot start: stopping it takes nothing from anybody, and another version may mend it. */
export function isBroken(pod: PodFacts): boolean {
  return pod.trouble !== undefined && !pod.ready && !pod.deleting;
}

export function othersAreWell(situation: Situation, pod: PodFacts): boolean {
  const { members: views } = situation;
  const others = views.filter(({ name }) => name !== pod.name);
  return (
    others.length >= quorum(views.length) &&
    others.every((view: MemberView) => isHealthy(view) && view.pod?.ready === true)
  );
}
