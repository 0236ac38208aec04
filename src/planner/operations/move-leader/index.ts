/** Leadership handed to the member that somebody asked for, and away from one whose pod is being deleted or whose data differs. */
import type { RequestedRow } from '../../model/operation.ts';
import { blocked, type Decision, operate, type Step } from '../../model/decision.ts';
import { everyVoterServes } from '../../checks/preflight.ts';
import type { Situation } from '../../model/situation.ts';
import { aboutVoter, askedIds, done, refused } from '../../checks/user-requests.ts';
import { successorOf } from '../../checks/next-leader.ts';
import { isServing, isStaying, type MemberView, withoutCorrupt } from '../../model/member-view.ts';
import { abortOf } from '../../checks/aborted.ts';
import { doubtfulOf, mayDiffer, verdictOf } from '../../checks/corruption.ts';
import { isConcerned } from '../compare-data/index.ts';

const OPERATION = 'moveLeader';

/** The hand-over; undefined when nobody asked, or when it is done. */
export function planMoveLeader(situation: Situation): Decision | undefined {
  const ids = askedIds(situation, 'moveLeader');
  const { members: views } = situation;
  const to = views.find(view => !view.isLearner && ids.includes(view.id));
  const from = views.find(view => view.leads);
  if (to === undefined || from?.id === to.id) return undefined;
  const steps: Step[] =
    from === undefined ? [] : [{ kind: 'moveLeader', from: from.name, to: to.name, toId: to.id }];
  const obstacle = everyVoterServes(views);
  if (obstacle !== undefined) return blocked(obstacle, steps);
  return steps.length === 0 ? undefined : operate(OPERATION, steps);
}

/**
 * The leader's pod is being deleted, by an eviction or by hand: it hands over in the seconds that its `preStop` leaves
 * (src/objects/pod.ts), so that no client waits for an election. Undefined when no other voter is healthy and stays: etcd then chooses a successor when it stops.
 */
export function planHandOver(situation: Situation): Decision | undefined {
  const leader = leavingLeader(situation);
  if (leader === undefined) return undefined;
  const leaving = situation.members.filter(view => !isStaying(view)).map(({ name }) => name);
  const to = successorOf(situation, leader.name, { waiting: leaving });
  if (to === undefined || leaving.includes(to.name)) return undefined;
  return handOver(leader, to);
}

/**
 * The leader does not have the data of the majority: followers that lack much of the log, and members that join, get theirs from it. Undefined when
 * nobody of the majority is healthy and stays, or when one of them was found to differ before: then the leader may be the one that is right.
 */
export function planCorruptLeader(situation: Situation): Decision | undefined {
  const verdict = verdictOf(situation);
  if (verdict.kind !== 'differs' || !isConcerned(situation)) return undefined;
  const leader = verdict.differing.find(({ leads }) => leads);
  if (leader === undefined || doubtfulOf(situation, verdict.majority).length > 0) return undefined;
  // Nothing else waits for it.
  if (abortOf(situation, { operation: OPERATION }) !== undefined) return undefined;
  const views = verdict.majority.filter(isStaying).map(withoutCorrupt);
  const to = successorOf(situation, leader.name, { views });
  return to && handOver(leader, to);
}

function handOver(from: MemberView, to: MemberView): Decision {
  return operate(OPERATION, [{ kind: 'moveLeader', from: from.name, to: to.name, toId: to.id }]);
}

/** The leader, while its pod is being deleted and still answers. */
function leavingLeader({ members: views }: Situation): MemberView | undefined {
  return views.find(view => view.leads && view.pod?.deleting === true);
}

export const moveLeader: RequestedRow = {
  request: aboutVoter({
    begin: (view, situation) => {
      if (view.leads) return done(`${view.name} is already the leader`);
      if (mayDiffer(situation, view)) return differs(view);
      return isServing(view)
        ? undefined
        : refused(`${view.name} is not known to be healthy, so it cannot become the leader`);
    },
    progress: (situation, { target }, view) => {
      if (view === undefined) return refused(`${target} is no longer a member`);
      if (view.leads) return done(`${target} is the leader`);
      return mayDiffer(situation, view) ? differs(view) : undefined;
    },
  }),
  isReached: (situation, _recorded, isDone) =>
    isDone ?? (leavingLeader(situation) === undefined && planCorruptLeader(situation) === undefined),
};

function differs({ name }: MemberView) {
  return refused(`${name} cannot become the leader: its data differs, or was found to differ before`);
}
