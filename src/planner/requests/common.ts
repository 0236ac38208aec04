/** What becomes of an EtcdRequest whatever it is about: for whom it is, until when it may be accepted, and a pause and its end. Pure. */
import { createdAt, expiryOf, isKnownAction, isOpen, targetOf } from '../../api/derived/requests.ts';
import type { EtcdClusterStatus, EtcdRequest } from '../../api/schemas/types.ts';
import type { Request } from '../../api/values/requests.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Outcome, RequestChange } from './status.ts';

/** What stands in the status of a resource of what users requested. */
export type HeldRequests = NonNullable<EtcdClusterStatus['userRequests']>;
type Pause = NonNullable<HeldRequests['pause']>;

/** The resource that a pass is about. */
export interface Target {
  readonly kind: 'EtcdCluster' | 'EtcdBackup';
  readonly namespace: string;
  readonly name: string;
  readonly workflowId: string;
  /** Milliseconds since the epoch; undefined: the resource is gone. */
  readonly createdAt: number | undefined;
}

type TargetName = Pick<Target, 'kind' | 'namespace' | 'name'>;

/** A resource that is created together with its request may be made after it. */
const TOGETHER_MS = 10_000;

/** Those that are not finished, oldest first. Creation times are whole seconds: of one second, those go first that a pass has accepted. */
export function openRequests(requests: readonly EtcdRequest[]): readonly EtcdRequest[] {
  return requests.filter(isOpen).toSorted(byAge);
}

function byAge(a: EtcdRequest, b: EtcdRequest): number {
  return (
    createdAt(a) - createdAt(b) ||
    Number(isAccepted(b)) - Number(isAccepted(a)) ||
    (a.metadata.name < b.metadata.name ? -1 : 1)
  );
}

export function isAccepted({ status }: EtcdRequest): boolean {
  return status?.phase === 'Accepted';
}

/** Why nothing comes of a request here; undefined: the pass is to judge it. */
export function unfit(request: EtcdRequest, target: Target, now: number): Outcome | undefined {
  const workflow = request.status?.workflowID;
  const isOfOther = workflow !== undefined && workflow !== target.workflowId;
  if (target.createdAt === undefined || (isOfOther && isAccepted(request))) return ofNobody(request, target);
  if (isAccepted(request)) return undefined;
  if (isOfOther || target.createdAt > createdAt(request) + TOGETHER_MS)
    return {
      state: 'missing',
      message: `the ${called(target)} for which the request was created was deleted, and nothing is done to the one that has the name now: create another EtcdRequest if it is meant`,
    };
  const expiresAt = expiryOf(request);
  if (now > expiresAt)
    return { state: 'expired', message: `it expired at ${timestamp(expiresAt)} before a pass accepted it` };
  if (isKnownAction(request.spec)) return undefined;
  const message = `this release of the operator does not know the action ${request.spec.action}`;
  return { state: 'refused', message };
}

/** Nothing comes of a request whose resource is gone, or never was. */
function ofNobody(request: EtcdRequest, target: TargetName): Outcome {
  const what = called(target);
  return isAccepted(request)
    ? { state: 'gone', message: `${what} was deleted before the request was done` }
    : { state: 'missing', message: `there is no ${what}` };
}

function called({ kind, namespace, name }: TargetName): string {
  return `${kind} ${name} of namespace ${namespace}`;
}

/** Those of a resource that does not exist (any more), or not that one: nothing comes of them. `other`: who has the name now. */
export function orphaned(
  requests: readonly EtcdRequest[],
  target: Omit<Target, 'createdAt'>,
  { now, other }: { readonly now: number; readonly other: number | undefined },
): readonly RequestChange[] {
  return openRequests(requests).flatMap(request => {
    const { workflowID } = request.status ?? {};
    // What was not judged yet may be for the next of the name.
    if (workflowID === undefined && now - createdAt(request) < TOGETHER_MS) return [];
    if (workflowID !== target.workflowId && other !== undefined) return [];
    return [{ request, outcome: ofNobody(request, target) }];
  });
}

/** Whether a request is about this resource. */
export function isAbout({ spec }: EtcdRequest, { kind, name }: Pick<Target, 'kind' | 'name'>): boolean {
  const target = targetOf(spec);
  return target.kind === kind && target.name === name;
}

/** Who asks, as it stands in the status. */
export function asked({ spec, metadata }: EtcdRequest, now: number) {
  const { by, reason } = spec;
  return {
    request: metadata.uid,
    by,
    ...(reason !== undefined && { reason }),
    at: timestamp(now),
  };
}

/** Who asks, as the planner takes it. */
export function who({ by, reason }: Request): Request {
  return { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
}

export function refusal(request: EtcdRequest, message: string): RequestChange {
  return { request, outcome: { state: 'refused', message } };
}

/** Accepted, and done within the pass. */
export function doneAtOnce(request: EtcdRequest, message: string, ids?: readonly string[]): RequestChange {
  const of = { message, ...(ids && { ids }) };
  return { request, accepted: { state: 'accepted', ...of }, outcome: { state: 'done', ...of } };
}

/** A message to the workflow, distinguished from others by the time at which it came (milliseconds since the epoch). */
interface Message extends Request {
  readonly at?: number;
}

/** What a pause is known by in the ids of the request that ends it. */
function keyOfPause({ at }: Message): string {
  return `pause ${at ?? ''}`.trim();
}

/** What pauses a resource: a request that holds, and a message to its workflow. */
export interface Pauses {
  readonly pause: Pause | undefined;
  readonly message: Message | undefined;
}

/** A pause begins. @param spent uids of requests of which nothing holds any more */
export function pause(
  { pause: held }: Pauses,
  request: EtcdRequest,
  {
    spent,
    now,
    answer,
  }: { readonly spent: readonly string[]; readonly now: number; readonly answer: string },
): { readonly pause: Pause | undefined; readonly change: RequestChange } {
  const { uid } = request.metadata;
  const isDone = held?.request === uid || spent.includes(uid);
  return { pause: isDone ? held : asked(request, now), change: doneAtOnce(request, answer) };
}

/** A pause ends; `revoked`: the message to the workflow that it ends, until the workflow has forgotten it. */
export function resume(
  { pause: held, message }: Pauses,
  request: EtcdRequest,
): {
  readonly pause: Pause | undefined;
  readonly revoked: Message | undefined;
  readonly change: RequestChange;
} {
  const found = [held?.request, message && keyOfPause(message)].filter(id => id !== undefined);
  const ids = (isAccepted(request) ? request.status?.ids : undefined) ?? found;
  if (ids.length === 0 && !isAccepted(request)) {
    const why = 'nothing to resume: no message has paused it (spec.paused is a field of the specification)';
    return { pause: held, revoked: undefined, change: refusal(request, why) };
  }
  const revoked = message !== undefined && ids.includes(keyOfPause(message)) ? message : undefined;
  const done = doneAtOnce(request, 'resumed', ids);
  return {
    pause: held !== undefined && ids.includes(held.request) ? undefined : held,
    revoked,
    change: revoked === undefined ? done : withoutOutcome(done),
  };
}

/** Accepted, and not done yet. */
export function withoutOutcome({ request, accepted }: RequestChange): RequestChange {
  return { request, ...(accepted && { accepted }) };
}
