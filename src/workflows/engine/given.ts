/** What an entity remembers of the EtcdRequests that were delivered to it. Pure. */
import type { Given, GivenRequest } from '../../api/values/requests.ts';

/** Absent: none were. */
export interface Remembering {
  readonly given?: readonly GivenRequest[];
}

/**
 * As many as are remembered of those that are final. The watcher delivers one at a time to a workflow and writes the answer into the
 * object before the next, so one that is forgotten here is never delivered again.
 */
const REMEMBERED = 32;

/** What became of the EtcdRequest with this uid. */
export function rememberedOf({ given = [] }: Remembering, uid: unknown): GivenRequest | undefined {
  return given.find(each => each.uid === uid);
}

/** Remembers one; of a uid that is remembered already nothing changes. */
export function remember<P extends Remembering>(
  people: P,
  { uid, expiresAt }: Given,
  what: Omit<GivenRequest, keyof Given>,
): P {
  if (rememberedOf(people, uid) !== undefined) return people;
  return withGiven(people, [...(people.given ?? []), { uid, expiresAt, ...what }]);
}

/** Every open one as `judge` says; undefined: as it is. */
export function judgeGiven<P extends Remembering>(
  people: P,
  judge: (open: GivenRequest) => Partial<GivenRequest> | undefined,
): P {
  const { given } = people;
  if (given === undefined || !given.some(isOpen)) return people;
  return withGiven(
    people,
    given.map(each => (isOpen(each) ? { ...each, ...judge(each) } : each)),
  );
}

function isOpen({ state }: GivenRequest): boolean {
  return state === 'waiting' || state === 'accepted';
}

function withGiven<P extends Remembering>(people: P, given: readonly GivenRequest[]): P {
  const final = given.filter(each => !isOpen(each));
  const forgotten = new Set(final.slice(0, Math.max(0, final.length - REMEMBERED)));
  return { ...people, given: given.filter(each => !forgotten.has(each)) };
}
