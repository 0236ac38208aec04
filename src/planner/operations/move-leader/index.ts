/** Leadership handed to the member that somebody asked for, and away from one whose pod is being deleted. */
import type { RequestedRow } from '../../model/operation.ts';
import { blocked, type Decision, operate, type Step } from '../../model/decision.ts';
import { everyVoterServes } from '../../checks/preflight.ts';
import type { Situation } from '../../model/situation.ts';
import { aboutVoter, askedIds, done, refused } from '../../checks/user-requests.ts';
import { successorOf } from '../../checks/next-leader.ts';
import { isServing, isStaying, type MemberView } from '../../model/member-view.ts';

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
  return steps.length === 0 ? undefined : operate('moveLeader', steps);
}

/**
 * The leader's pod is being deleted, by an eviction or by hand: it hands over in the seconds that its `preStop` leaves
 * (src/objects/pod.ts), so that no client waits for an election. Undefined when no other voter is healthy and stays: etcd then chooses a successor when it stops.
 */
export function planHandOver(situation: Situation): Decision | undefined {
  const leader = leavingLeader(situation);
  if (leader === undefined) return undefined;
  const leaving = situation.members.filter(view => !isStaying(view)).map(({ name }) => name);
  const to = successorOf(situation.members, leader.name, leaving);
  if (to === undefined || leaving.includes(to.name)) return undefined;
  return operate('moveLeader', [{ kind: 'moveLeader', from: leader.name, to: to.name, toId: to.id }]);
}

/** The leader, while its pod is being deleted and still answers. */
function leavingLeader({ members: views }: Situation): MemberView | undefined {
  return views.find(view => view.leads && view.pod?.deleting === true);
}

export const moveLeader: RequestedRow = {
  request: aboutVoter({
    begin: view => {
      if (view.leads) return done(`${view.name} is already the leader`);
      return isServing(view)
        ? undefined
        : refused(`${view.name} is not known to be healthy, so it cannot become the leader`);
    },
    progress: (_situation, { target }, view) => {
      if (view === undefined) return refused(`${target} is no longer a member`);
      return view.leads ? done(`${target} is the leader`) : undefined;
    },
  }),
  isReached: (situation, _recorded, isDone) => isDone ?? leavingLeader(situation) === undefined,
};
