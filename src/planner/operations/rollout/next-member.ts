/** What rollouts and upgrades share: both touch one member after the other, the leader last, when all gates are open. */
import {
  blocked,
  type Decision,
  type Obstacle,
  operate,
  type Operation,
  type Step,
} from '../../model/decision.ts';
import { leads } from '../../model/member-probe.ts';
import { successorOf } from '../../checks/next-leader.ts';
import { memberNames } from '../../model/member-names.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Approval } from '../../model/workflow-state.ts';
import type { Situation } from '../../model/situation.ts';
import { lastVersion, usableClaim } from '../../checks/missing-pods.ts';

/** A longer wait is the entity's, which has a timer for it. */
const LONGEST_WAIT_MS = 60_000;
export interface Rolling {
  readonly operation: Operation;
  /** What the gates say. */
  readonly obstacle: Obstacle | undefined;
  readonly steps: readonly Step[];
  /** Who is next; undefined: nobody, the operation is to end. */
  readonly member: string | undefined;
  readonly approval?: Approval | undefined;
}

/** What passes by itself and soon is waited for as a step; anything else is in the way. */
export function whenGatesOpen(
  { now }: Situation,
  { operation, obstacle, steps, member, approval }: Rolling,
): Decision {
  if (obstacle === undefined) return operate(operation, steps, approval);
  const { waitMs = Number.POSITIVE_INFINITY, message, first } = obstacle;
  if (first !== undefined) return operate(operation, [first, ...steps]);
  if (waitMs > LONGEST_WAIT_MS) return blocked(obstacle, steps, operation);
  const wait: Step = { kind: 'awaitQuiet', before: member, because: message, until: now + waitMs };
  return operate(operation, [wait, ...steps]);
}

/** `waiting`: members that are themselves about to be stopped. Before the leader is stopped it hands over: an election would hold up clients for a second. */
export function transferLeadership(situation: Situation, waiting: readonly string[], member: string): Step[] {
  if (!isLeader(situation, member)) return [];
  const to = successorOf(situation, member, { waiting });
  return to === undefined ? [] : [{ kind: 'moveLeader', from: member, to: to.name, toId: to.id }];
}

/** Starting a member again on its volume, with the version that it ran, and waiting for it; nothing without the volume. */
export function restart(situation: Situation, member: string): Step[] {
  const token = situation.cluster.status.incarnation?.token;
  const claim = usableClaim(situation, member);
  if (token === undefined || claim === undefined) return [];
  return [
    { kind: 'restartMember', token, member, claimUid: claim.uid, ...lastVersion(situation, member) },
    { kind: 'awaitMembers', members: [member] },
  ];
}

/** Whether every member has a pod, and each is ready. */
export function allAreReady(situation: Situation): boolean {
  const members = memberNames(situation);
  const isThere = (name: string) => situation.pods.some(pod => pod.owned && pod.name === name);
  return members.length > 0 && members.every(isThere) && unreadyPods(situation).length === 0;
}

/** Pods of members that are not ready, or are being deleted. */
export function unreadyPods(situation: Situation): PodFacts[] {
  const names = memberNames(situation);
  return situation.pods.filter(pod => pod.owned && names.includes(pod.name) && (!pod.ready || pod.deleting));
}

/** Whether the member says itself that it leads. */
export function isLeader({ probes }: Situation, name: string): boolean {
  return leads(probes[name]);
}
