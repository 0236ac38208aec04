/**
 * Defragmentation: gives the free space in the files of members back to the file system. etcd answers nothing meanwhile (etcd documentation,
 * "Maintenance", defragmentation), so one member at a time, between the gates of a rollout, the leader last and after it has handed over, and
 * clients are led away before. After the last one the data of all members is compared. Pure.
 */
import { nextMemberMayGo } from '../../checks/gates.ts';
import type { Decision, Step } from '../../model/decision.ts';
import type { RequestedRow } from '../../model/operation.ts';
import { done, refused, requestUnderWay } from '../../checks/user-requests.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import type { Situation } from '../../model/situation.ts';
import { transferLeadership, whenGatesOpen } from '../rollout/next-member.ts';
import { canBe, type Due, dueMembers, isDoneFor, nextRound } from './due.ts';

const OPERATION = 'defragmentMembers';

/** What a defragmentation does next; undefined when no member is due, or something else is under way. */
export function planDefragmentation(situation: Situation): Decision | undefined {
  const { operation } = situation.cluster.status;
  if (operation !== undefined && operation.type !== OPERATION) return undefined;
  const due = dueMembers(situation);
  const [first] = due;
  if (first === undefined)
    return operation === undefined || isWithdrawn(situation) ? undefined : comparison(situation);
  // Room in the file is what an alarm of space waits for.
  const obstacle = nextMemberMayGo(situation, { tolerated: /NOSPACE/ });
  return whenGatesOpen(situation, {
    operation: OPERATION,
    obstacle,
    steps: defragmentations(situation, due),
    member: first.view.name,
  });
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
    begin({ members }, view) {
      const meant = view === undefined ? members.filter(canBe) : [view];
      if (!meant.every(canBe) || meant.length === 0)
        return refused(
          `${view?.name ?? 'no member'} cannot be defragmented: it is a learner, was added manually, or has not started`,
        );
      return meant.map(({ id }) => id);
    },
    progress(situation, request, ids) {
      if (restoreUnderWay(situation.cluster) !== undefined) return refused('a restore replaces the cluster');
      const left = situation.members.some(view => ids.includes(view.id) && !isDoneFor(request, view));
      return left || !situation.membership.known ? ids : done('defragmented');
    },
  },
  isReached: (situation, _recorded, isDone) => isDone !== false && dueMembers(situation).length === 0,
};
