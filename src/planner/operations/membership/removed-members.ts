/**
 * Pods and claims of members that are no longer members: what a removal leaves, also one that was cut short. Who was removed by
 * somebody else, or is not listed because a volume was put back to a time before it was added, may hold what clients wrote last:
 * its pod is left to start for a while, and its claim is kept for longer.
 */
import {
  blocked,
  type Decision,
  type Obstacle,
  operate,
  type Step,
  asRollback,
} from '../../model/decision.ts';
import type { ClaimFacts, PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { operationOf } from './learner.ts';
import { noForeignMembers } from '../../checks/preflight.ts';
import { identify } from '../../model/steps/row.ts';
import type { MemberView } from '../../model/member-view.ts';

/** What is left of one that is no member any more. */
interface Left {
  readonly member: string;
  readonly pods: readonly PodFacts[];
  readonly claims: readonly ClaimFacts[];
}

/** Clears away one removed member; undefined when nothing is left of any, or what is left is waited for. */
export function planRemovedMembers(situation: Situation, views: readonly MemberView[]): Decision | undefined {
  const left = leftOf(situation, views);
  const waiting = left.filter(each => waitMs(situation, each) > 0);
  const due = left.filter(each => !waiting.includes(each));
  const [first] = due;
  // Who waits may be the quorum, and who is listed one of the past.
  const isUnexplained = waiting.length > 0 && waiting.length >= views.length;
  const unexplained = isUnexplained ? unexplainedLoss(situation, waiting) : undefined;
  if (first === undefined) return unexplained && blocked(unexplained);
  const { member, pods, claims } = first;
  const retention = retentionOf(situation, first);
  const step: Step = {
    kind: 'retireMember',
    member,
    pods: identify(pods),
    claims: identify(claims),
    retention,
  };
  // Who is a stranger may be one of ours by another name: nothing is cleared away while nobody knows.
  const obstacle = noForeignMembers(views) ?? unexplained;
  if (obstacle !== undefined) return blocked(obstacle, [step]);
  // What is left of a member that is none any more is in nobody's interest, whatever was aborted.
  return asRollback(operate(operationOf(situation), [step]));
}

/** What members that no quorum lists any more have left. */
export function leftOf(situation: Situation, views: readonly MemberView[]): Left[] {
  const token = situation.cluster.status.incarnation?.token;
  const isLeft = (object: { name: string; owned: boolean; token: string | undefined; deleting: boolean }) =>
    object.owned &&
    object.token === token &&
    !object.deleting &&
    !views.some(view => view.name === object.name);
  const pods = situation.pods.filter(isLeft);
  // What a restore put aside is never deleted, also when it was brought back since.
  const claims = situation.claims.filter(
    claim =>
      isLeft(claim) && isDue(claim.keptUntil, situation) && claim.keptByRestore !== true && !isCopy(claim),
  );
  const names = [...new Set([...pods, ...claims].map(({ name }) => name))];
  return names.map(member => ({
    member,
    pods: pods.filter(({ name }) => name === member),
    claims: claims.filter(({ name }) => name === member),
  }));
}

/** Somebody made it of another claim, with all that was noted on that one: no member of ours ever ran on it. */
function isCopy({ stampedUid, uid }: ClaimFacts): boolean {
  return stampedUid !== undefined && stampedUid !== uid;
}

/** A claim that is kept is left alone until its time has come; with `Retain` it never comes. */
function isDue(keptUntil: number | undefined, { cluster, now }: Situation): boolean {
  if (keptUntil === undefined) return true;
  return cluster.config.storage.retain === 'Delete' && now >= keptUntil;
}

/**
 * Milliseconds for which the pod may still start and find its quorum; 0 for what the operator removed itself. Nobody waits for one
 * that has been away for as long as a lost member is waited for.
 */
function waitMs({ cluster, now }: Situation, left: Left): number {
  if (left.pods.length === 0 || isByOperator(cluster.status.replacements, left)) return 0;
  const since = Math.max(
    ...left.pods.map(({ ready, readyChangedAt, createdAt }) => (ready ? now : (readyChangedAt ?? createdAt))),
  );
  return Math.max(0, since + cluster.config.repair.replaceAfterSeconds * 1_000 - now);
}

/** The operator removed it: it noted that on the claim or, of one that was lost, in the status. */
function isByOperator(
  replacements: Situation['cluster']['status']['replacements'] = [],
  { member, claims }: Left,
): boolean {
  return claims.some(wasNotNeeded) || replacements.some(replacement => replacement.member === member);
}

/** A note that was copied from another claim says nothing of this one. */
function wasNotNeeded({ removal, uid }: ClaimFacts): boolean {
  return removal === uid;
}

function unexplainedLoss(situation: Situation, waiting: readonly Left[]): Obstacle {
  const ms = Math.max(...waiting.map(left => waitMs(situation, left)));
  const names = waiting.map(({ member }) => member).join(', ');
  return {
    reason: 'WaitingForMember',
    message: `${names} is no longer in the member list, and the operator did not remove it: the volumes of the listed members may have been restored to an earlier state. The operator changes nothing for ${Math.ceil(ms / 1_000)} s (spec.repair.replaceAfterSeconds), so that it can start and answer; if you removed it with etcdctl, delete its pod to continue immediately`,
    waitMs: ms,
  };
}

/** Only a claim of whose member the operator knows that nothing is lost with it is deleted at once; others are kept for a while. */
function retentionOf(
  { cluster, now }: Situation,
  { member, claims }: Left,
): Extract<Step, { kind: 'retireMember' }>['retention'] {
  const { retain, retainDeadMemberSeconds } = cluster.config.storage;
  if (retain === 'Retain') return 'Retain';
  if (claims.some(({ keptUntil }) => keptUntil !== undefined)) return 'Delete';
  const wasDead = cluster.status.replacements?.some(replacement => replacement.member === member) ?? false;
  if (claims.every(wasNotNeeded) && !wasDead) return 'Delete';
  return { keepUntil: now + retainDeadMemberSeconds * 1_000 };
}
