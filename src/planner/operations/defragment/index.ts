/**
 * Defragmentation: gives the free space in the files of members back to the file system. etcd answers nothing meanwhile (etcd documentation,
 * "Maintenance", defragmentation), so one member at a time, between the gates of a rollout, the leader last and after it has handed over, and
 * clients are led away before. After the last one the data of all members is compared. Pure.
 */
import { full, nextMemberMayGo, versionsOf } from '../../checks/gates.ts';
import { blocked, type Decision, type Step } from '../../model/decision.ts';
import type { MemberView } from '../../model/member-view.ts';
import type { RequestedRow } from '../../model/operation.ts';
import { done, refused, requestUnderWay } from '../../checks/user-requests.ts';
import { once } from '../../model/once.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import type { Situation } from '../../model/situation.ts';
import { transferLeadership, whenGatesOpen } from '../rollout/next-member.ts';
import { canBe, type Due, dueMembers, isDoneFor, nextRound } from './due.ts';
import { heldBack } from './interrupted.ts';

const OPERATION = 'defragmentMembers';
/** What this may be done in between of: the gates of the others ask for room (checks/gates.ts). */
const NEED_ROOM: readonly string[] = ['rolloutCluster', 'upgradeCluster', OPERATION];

/** What a defragmentation does next; undefined when no member is due, something else is under way, or none may be defragmented now. */
export function planDefragmentation(situation: Situation): Decision | undefined {
  const decision = defragmentation(situation);
  return decision?.kind === 'operate' ? decision : undefined;
}

/** Why none is defragmented; undefined when one is, or none is due. What waits holds up nothing else: what it waits for may be what mends the members. */
export function planHeldDefragmentation(situation: Situation): Decision | undefined {
  const decision = defragmentation(situation);
  return decision?.kind === 'blocked' ? decision : undefined;
}

const defragmentation = once(findDefragmentation);

function findDefragmentation(situation: Situation): Decision | undefined {
  const { operation } = situation.cluster.status;
  const isUnderWay = operation?.type === OPERATION;
  const needsRoom = waitsForRoom(situation);
  if (operation !== undefined && !isUnderWay && !needsRoom) return undefined;
  const due = dueMembers(situation);
  const [first] = due;
  if (first === undefined) return !isUnderWay || isWithdrawn(situation) ? undefined : comparison(situation);
  const held = heldBack(situation.now, viewsOf(due));
  if (held !== undefined) return blocked(held, defragmentations(situation, due));
  // Room in the file is what an alarm of space waits for.
  const versions = needsRoom ? versionsOf(situation.members) : undefined;
  const obstacle = nextMemberMayGo(situation, { tolerated: /NOSPACE/, versions });
  return whenGatesOpen(situation, {
    operation: OPERATION,
    obstacle,
    steps: defragmentations(situation, due),
    member: first.view.name,
  });
}

function viewsOf(due: readonly Due[]): MemberView[] {
  return due.map(({ view }) => view);
}

/** Whether nobody gets another pod until a database has room again: a rollout or an upgrade stands still between two members meanwhile. */
export function waitsForRoom(situation: Situation): boolean {
  const { operation } = situation.cluster.status;
  const others = operation !== undefined && !NEED_ROOM.includes(operation.type);
  return !others && full(situation, situation.members, undefined) !== undefined;
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
