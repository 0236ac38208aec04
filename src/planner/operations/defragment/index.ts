/**
 * Defragmentation: gives the free space in the files of members back to the file system. etcd answers nothing meanwhile (etcd documentation,
 * "Maintenance", defragmentation), so one member at a time, between the gates of a rollout, the leader last and after it has handed over, and
 * clients are led away before. After the last one the data of all members is compared. Pure.
 */
import { nextMemberMayGo } from '../../checks/gates.ts';
import { blocked, type Decision, type Step } from '../../model/decision.ts';
import type { MemberView } from '../../model/member-view.ts';
import type { RequestedRow } from '../../model/operation.ts';
import { done, refused, requestUnderWay } from '../../checks/user-requests.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import type { Situation } from '../../model/situation.ts';
import { transferLeadership, whenGatesOpen } from '../rollout/next-member.ts';
import { canBe, type Due, dueMembers, isDoneFor, nextRound } from './due.ts';
import { heldBack } from './interrupted.ts';

const OPERATION = 'defragmentMembers';

/** What a defragmentation does next; undefined when no member is due, or something else is under way. */
export function planDefragmentation(situation: Situation): Decision | undefined {
  const { operation } = situation.cluster.status;
  if (operation !== undefined && operation.type !== OPERATION) return undefined;
  const due = dueMembers(situation);
  const [first] = due;
  if (first === undefined)
    return operation === undefined || isWithdrawn(situation) ? undefined : comparison(situation);
  if (heldBack(situation.now, viewsOf(due)) !== undefined) return undefined;
  // Room in the file is what an alarm of space waits for.
  const obstacle = nextMemberMayGo(situation, { tolerated: /NOSPACE/ });
  return whenGatesOpen(situation, {
    operation: OPERATION,
    obstacle,
    steps: defragmentations(situation, due),
    member: first.view.name,
  });
}

/** Why none of those that are due is defragmented: it ended one of them. What waits holds up nothing else: it may be the cure. */
export function planHeldDefragmentation(situation: Situation): Decision | undefined {
  const due = dueMembers(situation);
  const obstacle = heldBack(situation.now, viewsOf(due));
  return obstacle && blocked(obstacle, defragmentations(situation, due));
}

function viewsOf(due: readonly Due[]): MemberView[] {
  return due.map(({ view }) => view);
}

/** Whether it was requested, and is no longer: it ends as it is. */
function isWithdrawn(situation: Situation): boolean {
  const { goal } = situation.cluster.status.operation ?? {};
  return goal !== undefined && requestUnderWay(situation)?.kind !== 'defragment';
}

/** The steps that defragment these, in their order; a leader among them hands over first. */
export function defragmentations(situation: Situation, due: readonly Due[]): Step[] {
  const waiting = due.map(({ view }) => view.name);
  return due.flatMap(({ view: { name, id, pod }, because }) => [
    ...transferLeadership(situation, waiting, name),
    { kind: 'defragmentMember' as const, member: name, id, uid: pod?.uid ?? '', because },
  ]);
}

/** Whether the members still hold the same keys, before the operation ends. */
function comparison(situation: Situation): Decision | undefined {
  const obstacle = nextMemberMayGo(situation, { tolerated: /NOSPACE/ });
  return (
    obstacle && whenGatesOpen(situation, { operation: OPERATION, obstacle, steps: [], member: undefined })
  );
}

export const defragmentMembers: RequestedRow = {
  dueAt: ({ cluster, now }) => nextRound(cluster.config.maintenance.defragment, now),
  request: {
    begin({ members, now }, view) {
      const meant = view === undefined ? members.filter(canBe) : [view];
      if (!meant.every(canBe) || meant.length === 0)
        return refused(
          `${view?.name ?? 'no member'} cannot be defragmented: it is a learner, was added manually, or has not started`,
        );
      const held = heldBack(now, meant);
      return held === undefined ? meant.map(({ id }) => id) : refused(held.message);
    },
    progress(situation, request, ids) {
      if (restoreUnderWay(situation.cluster) !== undefined) return refused('a restore replaces the cluster');
      const left = situation.members.filter(view => ids.includes(view.id) && !isDoneFor(request, view));
      const held = heldBack(situation.now, left);
      if (held !== undefined) return refused(held.message);
      return left.length > 0 || !situation.membership.known ? ids : done('defragmented');
    },
  },
  isReached: (situation, _recorded, isDone) =>
    isDone !== false &&
    dueMembers(situation).length === 0 &&
    heldBack(situation.now, situation.members) === undefined,
};
