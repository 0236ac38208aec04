/** Pods and claims of members that are no longer members: what a removal leaves, also one that was cut short. */
import { blocked, operate, undoing } from '../answers.ts';
import type { Decision, Step } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { operationOf } from './learner.ts';
import { onlyOurs } from './preflight.ts';
import type { Seat } from './seats.ts';

/** Clears away one removed member; undefined when nothing is left of any. */
export function planLeftovers(observation: Observation, seats: readonly Seat[]): Decision | undefined {
  const { pods, claims } = observation;
  const token = observation.cluster.status.incarnation?.token;
  const isLeft = (object: { name: string; owned: boolean; token: string | undefined; deleting: boolean }) =>
    object.owned &&
    object.token === token &&
    !object.deleting &&
    !seats.some(seat => seat.name === object.name);
  const leftPods = pods.filter(isLeft);
  const leftClaims = claims.filter(claim => isLeft(claim) && isDue(claim.keptUntil, observation));
  const member = [...leftPods, ...leftClaims][0]?.name;
  if (member === undefined) return undefined;
  const of = (objects: readonly { name: string; uid: string }[]) =>
    objects.filter(({ name }) => name === member).map(({ name, uid }) => ({ name, uid }));
  const step: Step = {
    kind: 'retireMember',
    member,
    pods: of(leftPods),
    claims: of(leftClaims),
    fate: fateOf(observation, member),
  };
  // Who is a stranger may be one of ours by another name: nothing is cleared away while nobody knows.
  const obstacle = onlyOurs(seats);
  if (obstacle !== undefined) return blocked(obstacle, [step]);
  // What is left of a member that is none any more is in nobody's interest, whatever was aborted.
  return undoing(operate(operationOf(observation), [step]));
}

/** A claim that is kept is left alone until its time has come; with `Retain` it never comes. */
function isDue(keptUntil: number | undefined, { cluster, now }: Observation): boolean {
  if (keptUntil === undefined) return true;
  return cluster.config.storage.retain === 'Delete' && now >= keptUntil;
}

/** Claims of members that were removed as dead are evidence: they are kept for a while whatever the policy says. */
function fateOf(
  { cluster, claims, now }: Observation,
  member: string,
): Extract<Step, { kind: 'retireMember' }>['fate'] {
  const { retain, retainDeadMemberSeconds } = cluster.config.storage;
  if (retain === 'Retain') return 'Retain';
  const wasDead = cluster.status.replacements?.some(replacement => replacement.member === member) ?? false;
  const alreadyKept = claims.some(claim => claim.name === member && claim.keptUntil !== undefined);
  return wasDead && !alreadyKept ? { keepUntil: now + retainDeadMemberSeconds * 1_000 } : 'Delete';
}
