/** As many voters as are asked for: one more or one less at a time, always as a learner first. */
import { UNKNOWN_ID } from '../../model/steps/members.ts';
import { bySerial } from '../../../api/names.ts';
import { parseTimestamp, timestamp } from '../../../api/values/time.ts';
import {
  blocked,
  type Decision,
  type Obstacle,
  operate,
  type Operation,
  type Step,
} from '../../model/decision.ts';
import { serialsAreLeft, specificationIsUsable } from '../../checks/obstacles.ts';
import { once } from '../../model/once.ts';
import type { Situation } from '../../model/situation.ts';
import { certificateCoversNextMember } from '../../checks/certificate-coverage.ts';
import { certificatesAreGood } from '../../checks/certificates.ts';
import { departing, sizeForNow } from './departing.ts';
import { operationOf } from './learner.ts';
import {
  everyVoterServes,
  LEADER_UNCLEAR,
  noPodTerminating,
  noForeignMembers,
} from '../../checks/preflight.ts';
import { peerUrlOf } from '../../model/identity.ts';
import { isServing, isStaying, nextMember, type MemberView } from '../../model/member-view.ts';
import { stopFirst } from './stop-first.ts';
import { successorOf } from '../../checks/next-leader.ts';
import { budgetIsTooLow, minAvailableNow } from '../../checks/disruptions.ts';
import { budgetStep } from '../repair/budget.ts';

interface Removal {
  readonly view: MemberView;
  /** Who goes after it, when that is known. */
  readonly after: MemberView | undefined;
  readonly operation: Operation;
  readonly reason: string;
}

/** How long after a learner was given up the next one is tried with the same specification. */
const RETRY_MS = 600_000;

/** The next change of size; undefined when the size is as asked for. */
export function planScale(situation: Situation, views: readonly MemberView[]): Decision | undefined {
  const { config, status } = situation.cluster;
  const wanted = config.size;
  // What cannot be carried out changes nothing, as is said of it; a lost member is replaced all the same.
  const isByPlan = operationOf(situation) === 'scaleCluster';
  if (isByPlan && specificationIsUsable(situation) !== undefined) return undefined;
  // Members of two versions are one thing at a time; a lost member is replaced all the same.
  if (isByPlan && (status.targetVersion ?? '') !== '') return undefined;
  if (views.length < sizeForNow(situation)) return planAdd(situation, views);
  if (views.length <= wanted) return undefined;
  const departs = departing(situation);
  const [leaving, after] = leavingMembers(situation, views);
  // Every member says that it leads: a former leader does until it hears of the other.
  if (leaving === undefined) return blocked(LEADER_UNCLEAR);
  const reason = departs?.reason ?? 'spec.size is lower';
  const operation = departs ? 'replaceMember' : 'scaleCluster';
  return planRemove(situation, views, { view: leaving, after, operation, reason });
}

/** The voters that go, the next one first; none while there are not more than are asked for. */
export function leavingMembers(situation: Situation, views: readonly MemberView[]): MemberView[] {
  const surplus = views.length - situation.cluster.config.size;
  if (surplus <= 0) return [];
  const departs = departing(situation);
  return departs === undefined ? leastNeeded(views).slice(0, surplus) : [departs.view];
}

/** Whether a learner is the next change of the membership. */
export const isAboutToAdd = once(situation => {
  const next = planScale(situation, situation.members);
  return next?.kind === 'operate' && next.plan.some(({ kind }) => kind === 'addLearner');
});

function planAdd(situation: Situation, views: readonly MemberView[]): Decision {
  const steps = stepsToAdd(situation, views);
  const obstacle = addingIsSafe(situation, views);
  return obstacle === undefined ? operate(operationOf(situation), steps) : blocked(obstacle, steps);
}

/** A learner, and its promotion. */
export function stepsToAdd(situation: Situation, views: readonly MemberView[]): Step[] {
  const member = nextMember(situation);
  const expected = views.map(view => view.id);
  const token = situation.cluster.status.incarnation?.token ?? '';
  // The pod of the learner would count as one of those that stay.
  const tooLow = budgetIsTooLow(situation, 1);
  return [
    ...(tooLow === undefined ? [] : [budgetStep(minAvailableNow(situation, 1), tooLow)]),
    { kind: 'addLearner', member, peerUrl: peerUrlOf(situation.cluster, member), expected },
    { kind: 'createMember', token, member, id: UNKNOWN_ID },
    { kind: 'sealMembers', members: [{ name: member, id: UNKNOWN_ID, uid: UNKNOWN_ID }] },
    { kind: 'promoteLearner', member, id: UNKNOWN_ID },
  ];
}

/** What must hold before a learner is added. */
export function addingIsSafe(situation: Situation, views: readonly MemberView[]): Obstacle | undefined {
  return (
    noForeignMembers(views) ??
    serialsAreLeft(situation) ??
    triedLately(situation) ??
    everyVoterServes(views) ??
    certificatesAreGood(situation) ??
    certificateCoversNextMember(situation)
  );
}

/** A learner of this very specification was given up a while ago: the next one would fare no better. */
function triedLately({ cluster, now }: Situation): Obstacle | undefined {
  const { givenUp } = cluster.status;
  if (givenUp === undefined || givenUp.generation !== cluster.generation) return undefined;
  const since = parseTimestamp(givenUp.time) ?? 0;
  // Of a clock that was ahead: nothing is waited for that is still to come.
  if (since > now) return undefined;
  const again = since + RETRY_MS;
  if (now >= again) return undefined;
  return {
    reason: 'LearnerGivenUp',
    message: `${givenUp.member} was removed: ${givenUp.reason}; the operator adds another member when the specification changes, or at ${timestamp(again)}`,
  };
}

/** A leader hands over before it goes: clients would wait two seconds for an election otherwise. */
function planRemove(
  situation: Situation,
  views: readonly MemberView[],
  { view: leaving, after, operation, reason }: Removal,
): Decision {
  const { id } = leaving;
  const steps = stepsToRemove(situation, views, { view: leaving, after, reason });
  // An unhealthy member may go while the others are well; a healthy one only while all are. All of them are a quorum of
  // themselves, and nobody left has no leader to agree on.
  const rest = views.filter(view => view.id !== id);
  const obstacle =
    noForeignMembers(views) ?? everyVoterServes(isServing(leaving) ? views : rest) ?? noPodTerminating(rest);
  return obstacle === undefined ? operate(operation, steps) : blocked(obstacle, steps);
}

/** The hand-over, the stop and the removal of a healthy voter. */
export function stepsToRemove(
  situation: Situation,
  views: readonly MemberView[],
  leaving: Omit<Removal, 'operation'>,
): Step[] {
  const { view, reason } = leaving;
  const { name: member, id } = view;
  const expected = views.map(each => each.id);
  const to = view.leads ? successorOf(situation, member, { views }) : undefined;
  return [
    ...(to === undefined ? [] : [{ kind: 'moveLeader' as const, from: member, to: to.name, toId: to.id }]),
    ...stopFirst(situation, views, leaving),
    { kind: 'removeMember', member, id, expected, reason },
  ];
}

/** Never the leader; who was stopped for it already, then unhealthy before healthy, then the newest first. */
function leastNeeded(views: readonly MemberView[]): MemberView[] {
  const others = views.filter(view => !view.leads);
  return others.sort(
    (a, b) =>
      Number(isStaying(a)) - Number(isStaying(b)) ||
      Number(isServing(a)) - Number(isServing(b)) ||
      bySerial(b.name, a.name),
  );
}
