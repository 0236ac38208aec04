/** Leadership handed to the member that somebody asked for. */
import type { RequestedRow } from '../../model/operation.ts';
import { blocked, type Decision, operate, type Step } from '../../model/decision.ts';
import { everyVoterHealthy } from '../../checks/preflight.ts';
import type { Situation } from '../../model/situation.ts';
import { aboutVoter, askedIds, done, refused } from '../../checks/user-requests.ts';
import { isHealthy } from '../../model/member-view.ts';

/** The hand-over; undefined when nobody asked, or when it is done. */
export function planMoveLeader(situation: Situation): Decision | undefined {
  const ids = askedIds(situation, 'moveLeader');
  const { members: views } = situation;
  const to = views.find(view => !view.isLearner && ids.includes(view.id));
  const from = views.find(view => view.leads);
  if (to === undefined || from?.id === to.id) return undefined;
  const steps: Step[] =
    from === undefined ? [] : [{ kind: 'moveLeader', from: from.name, to: to.name, toId: to.id }];
  const obstacle = everyVoterHealthy(views);
  if (obstacle !== undefined) return blocked(obstacle, steps);
  return steps.length === 0 ? undefined : operate('moveLeader', steps);
}

export const moveLeader: RequestedRow = {
  request: aboutVoter({
    begin: view => {
      if (view.leads) return done(`${view.name} is already the leader`);
      return isHealthy(view)
        ? undefined
        : refused(`${view.name} is not known to be healthy, so it cannot become the leader`);
    },
    progress: (_situation, { target }, view) => {
      if (view === undefined) return refused(`${target} is no longer a member`);
      return view.leads ? done(`${target} is the leader`) : undefined;
    },
  }),
  isReached: (_situation, _recorded, isDone) => isDone === true,
};
