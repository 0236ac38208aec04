/** What becomes of the requests to a cluster that were given as EtcdRequests: passes judge them, people abort them. Pure. */
import type { GivenRequest } from '../../api/values/requests.ts';
import { judgeGiven, type Remembering } from '../engine/given.ts';
import type { PersonRequest, Verdict } from './requests.ts';

interface Asked extends Remembering {
  readonly requests: readonly PersonRequest[];
  readonly judged: readonly Verdict[];
}

/** Notes what passes have said of each since, or that it is on the list no more. */
export function noteGiven<P extends Asked>(people: P): P {
  return judgeGiven(people, ({ id }) => {
    const verdict = people.judged.find(each => each.id === id);
    const isListed = people.requests.some(each => each.id === id);
    if (verdict !== undefined && (isListed || verdict.outcome !== 'accepted'))
      return { state: verdict.outcome, message: verdict.message };
    return isListed ? undefined : { state: 'aborted', message: 'aborted before it was complete' };
  });
}

/** Takes those off the list that no pass has accepted in time. */
export function expireGiven<P extends Asked>(people: P, now: number): P {
  const isLate = ({ state, expiresAt }: GivenRequest) => state === 'waiting' && now > expiresAt;
  const late = (people.given ?? []).filter(isLate).map(({ id }) => id);
  if (late.length === 0) return people;
  const left = { ...people, requests: people.requests.filter(({ id }) => !late.includes(id)) };
  return judgeGiven(left, each =>
    isLate(each) ? { state: 'expired', message: 'it expired before a pass accepted it' } : undefined,
  );
}
