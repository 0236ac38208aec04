/**
 * What becomes of the EtcdRequests of a cluster in one pass. They are judged oldest first, each upon what the ones before it have come to;
 * what users sent to the workflow itself comes with the actor, and both together are what the planner takes. Pure.
 */
import { requestKind } from '../../api/derived/requests.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { approves } from '../../api/values/consent.ts';
import { OPERATION_OF } from '../../api/values/requests.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import { expiryOf } from '../../api/derived/requests.ts';
import { judgeRequests, requestUnderWay, type Verdict } from '../checks/human-requests.ts';
import { type Actor, attribution, type PersonRequest } from '../model/actor.ts';
import type { Situation } from '../model/situation.ts';
import { decide } from '../plan.ts';
import {
  asked,
  doneAtOnce,
  isAccepted,
  openRequests,
  pause,
  refusal,
  resume,
  type Target,
  unfit,
  type UserRequests,
  who,
  withoutOutcome,
} from './common.ts';
import type { RequestChange } from './status.ts';

/** What a pass makes of the requests. */
export interface Settled {
  /** What users want, by requests and by messages to the workflow, as the planner takes it. */
  readonly actor: Actor;
  /** What holds of the requests, for the status of the cluster; undefined: nothing. */
  readonly holds: UserRequests | undefined;
  readonly changes: readonly RequestChange[];
  /** What the workflow holds and a request has ended. */
  readonly revoked: Pick<Actor, 'paused' | 'aborted' | 'failed'>;
  /** Verdicts on requests that the workflow holds. */
  readonly verdicts: readonly Verdict[];
}

/** As many may wait for each other. */
const MOST = 10;
/** As many approvals are remembered; a plan waits for one at a time. */
const MOST_APPROVALS = 16;
const NOTHING_TO_ABORT = 'nothing to abort: no operation is running';

interface Draft {
  readonly situation: Situation;
  /** What the workflow holds, without what a request has ended. */
  readonly told: Actor;
  readonly holds: UserRequests;
  readonly requests: readonly PersonRequest[];
  readonly changes: readonly RequestChange[];
  readonly revoked: Settled['revoked'];
  readonly withdrawn: readonly Verdict[];
}

/** Judges every open request of the cluster. */
export function settleRequests(situation: Situation, actor: Actor, target: Target): Settled {
  const { cluster, now, requests = [] } = situation;
  const { pause: held, abort: aborted, approvals = [] } = cluster.status.userRequests ?? {};
  const isSpent = ({ request }: { readonly request: string }) => actor.spent?.includes(request) === true;
  const abort = aborted?.generation === cluster.generation ? aborted : undefined;
  let draft: Draft = {
    situation,
    told: actor,
    holds: withoutUndefined<UserRequests>({
      pause: held && !isSpent(held) ? held : undefined,
      abort: abort && !isSpent(abort) ? abort : undefined,
      approvals: approvals.filter(each => !isSpent(each) && now < (parseTimestamp(each.expiresAt) ?? 0)),
    }),
    requests: [],
    changes: [],
    revoked: {},
    withdrawn: [],
  };
  for (const request of openRequests(requests)) {
    const outcome = unfit(request, target, now);
    draft = outcome === undefined ? settle(draft, request) : withChange(draft, { request, outcome });
  }
  const { changes, revoked, withdrawn } = draft;
  const kept = (actor.requests ?? []).filter(({ id }) => !withdrawn.some(each => each.id === id));
  return {
    actor: actorOf(draft),
    holds: heldOf(draft.holds),
    changes,
    revoked,
    verdicts: [...judgeRequests(situation, kept), ...withdrawn],
  };
}

function heldOf({ pause: held, abort, approvals = [] }: UserRequests): UserRequests | undefined {
  const holds = {
    ...(held && { pause: held }),
    ...(abort && { abort }),
    ...(approvals.length > 0 && { approvals }),
  };
  return Object.keys(holds).length === 0 ? undefined : holds;
}

/** What users want by now. */
function actorOf({ told, holds, requests }: Draft): Actor {
  const { approvals = [] } = holds;
  const allApprovals = [
    ...(told.approvals ?? []),
    ...approvals.map(({ request: id, operation, ids, by, reason, expiresAt }) => ({
      id,
      operation,
      ids,
      by,
      ...(reason !== undefined && { reason }),
      expiresAt: parseTimestamp(expiresAt) ?? 0,
    })),
  ];
  const all = [...(told.requests ?? []), ...requests].toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
  const { approvals: _, requests: __, spent: ___, ...others } = told;
  return withoutUndefined<Actor>({
    ...others,
    paused: holds.pause === undefined ? told.paused : who(holds.pause),
    aborted: abortedOf(told.aborted, holds.abort),
    approvals: allApprovals.length > 0 ? allApprovals : undefined,
    requests: all.length > 0 ? all : undefined,
  });
}

/** The abort that came last. */
function abortedOf(told: Actor['aborted'], held: UserRequests['abort']): Actor['aborted'] {
  if (held === undefined || (told?.at ?? 0) > (parseTimestamp(held.at) ?? 0)) return told;
  const { operation, generation, subject } = held;
  return { operation, generation, ...(subject !== undefined && { subject }), ...who(held) };
}

function withChange(draft: Draft, change: RequestChange): Draft {
  return { ...draft, changes: [...draft.changes, change] };
}

function settle(draft: Draft, request: EtcdRequest): Draft {
  const { situation, told, holds } = draft;
  const { now } = situation;
  switch (request.spec.action) {
    case 'Pause': {
      const answer = 'paused: no further step is performed';
      const paused = pause({ pause: holds.pause, message: told.paused }, request, {
        spent: told.spent ?? [],
        now,
        answer,
      });
      return withPause(withChange(draft, paused.change), paused.pause);
    }
    case 'Resume': {
      const { change, revoked, pause: left } = resume({ pause: holds.pause, message: told.paused }, request);
      const after = withPause(withChange(draft, change), left);
      return revoked === undefined ? after : revoke(after, { paused: revoked });
    }
    case 'Resync':
      return resync(draft, request);
    case 'Abort':
      return abort(draft, request);
    case 'Approve':
      return approve(draft, request);
    default:
      return carryOut(draft, request);
  }
}

function withPause(draft: Draft, held: UserRequests['pause']): Draft {
  const { pause: _, ...others } = draft.holds;
  return { ...draft, holds: { ...others, ...(held && { pause: held }) } };
}

/** The workflow is told to forget this, and the pass does not count it any more. */
function revoke(draft: Draft, ended: Settled['revoked']): Draft {
  const left = Object.entries(draft.told).filter(([field]) => !Object.hasOwn(ended, field));
  return { ...draft, told: Object.fromEntries(left), revoked: { ...draft.revoked, ...ended } };
}

const keyOfAborted = ({ operation, generation }: NonNullable<Actor['aborted']>): string =>
  `abort of ${operation} ${generation}`;
const keyOfFailed = ({ operation, retryAt }: NonNullable<Actor['failed']>): string =>
  `failure of ${operation} ${retryAt}`;

/** What was aborted, or has failed and waits, is tried again now. */
function resync(draft: Draft, request: EtcdRequest): Draft {
  const { told, holds } = draft;
  const { aborted, failed } = told;
  const found = [holds.abort?.request, aborted && keyOfAborted(aborted), failed && keyOfFailed(failed)];
  const ids = idsOf(request, found);
  const ended = {
    ...(aborted && ids.includes(keyOfAborted(aborted)) && { aborted }),
    ...(failed && ids.includes(keyOfFailed(failed)) && { failed }),
  };
  const { abort: held, ...others } = holds;
  const isHeld = held !== undefined && !ids.includes(held.request);
  const done = doneAtOnce(request, 'a pass looked again', ids);
  const change = Object.keys(ended).length === 0 ? done : withoutOutcome(done);
  return revoke(
    { ...withChange(draft, change), holds: { ...others, ...(isHeld && { abort: held }) } },
    ended,
  );
}

/** What an accepted request is about, or what one is about that is accepted now. */
function idsOf(request: EtcdRequest, found: readonly (string | undefined)[]): readonly string[] {
  const now = found.filter(id => id !== undefined);
  return isAccepted(request) ? (request.status?.ids ?? now) : now;
}

/** What an abort comes to. */
type Aborting =
  | {
      readonly kind: 'operation';
      readonly operation: string;
      readonly subject?: string;
      readonly message: string;
    }
  | { readonly kind: 'requests'; readonly ids: readonly string[] };

/** The first id of an abort of requests; that of an operation has its name there. */
const REQUESTS = 'requests';

/** The operation that has begun and goes on, else all requests that wait, else what waits for an approval. */
function abortable(draft: Draft): Aborting | undefined {
  const { situation } = draft;
  const actor = actorOf(draft);
  const decision = decide(situation, actor);
  if (decision.kind === 'operate' && situation.cluster.status.operation?.type === decision.operation) {
    const { operation, subject } = decision;
    const under = requestUnderWay({ actor });
    // What somebody asked for is taken back; what the specification asks for is kept from being done again.
    if (under !== undefined && OPERATION_OF[under.kind] === operation)
      return { kind: 'requests', ids: [String(under.id)] };
    const message = `${operation} ends at its next step`;
    return { kind: 'operation', operation, ...(subject !== undefined && { subject }), message };
  }
  const { requests = [] } = actor;
  if (requests.length > 0) return { kind: 'requests', ids: requests.map(({ id }) => String(id)) };
  const operation = decision.kind === 'blocked' ? decision.consent?.operation : undefined;
  if (operation === undefined) return undefined;
  const message = `${operation} does not run until the specification changes or you send resync`;
  return { kind: 'operation', operation, message };
}

function abort(draft: Draft, request: EtcdRequest): Draft {
  const aborting = isAccepted(request) ? acceptedAbort(request) : abortable(draft);
  if (aborting === undefined) return withChange(draft, refusal(request, NOTHING_TO_ABORT));
  if (aborting.kind === 'requests') return withdraw(draft, request, aborting.ids);
  const { operation, subject, message } = aborting;
  const { uid } = request.metadata;
  const { situation, told, holds } = draft;
  const change = doneAtOnce(request, message, [operation, ...(subject === undefined ? [] : [subject])]);
  if (holds.abort?.request === uid || told.spent?.includes(uid) === true) return withChange(draft, change);
  const { generation } = situation.cluster;
  const held = { ...asked(request, situation.now), operation, generation };
  return {
    ...withChange(draft, change),
    holds: { ...holds, abort: { ...held, ...(subject !== undefined && { subject }) } },
  };
}

function acceptedAbort({ status }: EtcdRequest): Aborting {
  const [first = '', ...others] = status?.ids ?? [];
  if (first === REQUESTS) return { kind: 'requests', ids: others };
  const [subject] = others;
  return {
    kind: 'operation',
    operation: first,
    ...(subject !== undefined && { subject }),
    message: status?.message ?? '',
  };
}

/** Takes requests back, as far as they are not done. */
function withdraw(draft: Draft, request: EtcdRequest, ids: readonly string[]): Draft {
  const message = `aborted before it was complete by ${attribution(request.spec)}`;
  const isMeant = ({ id }: PersonRequest) => ids.includes(String(id));
  const told = (draft.told.requests ?? []).filter(isMeant);
  const all = [...(draft.told.requests ?? []), ...draft.requests].filter(isMeant);
  const named = all.map(({ kind, target }) => `${kind} ${target}`.trim());
  const answer = request.status?.message;
  const done = doneAtOnce(
    request,
    isAccepted(request) && answer !== undefined ? answer : `revoked: ${named.join(', ')}`,
    [REQUESTS, ...ids],
  );
  return {
    ...draft,
    told: { ...draft.told, requests: (draft.told.requests ?? []).filter(each => !isMeant(each)) },
    requests: draft.requests.filter(each => !isMeant(each)),
    changes: [
      ...draft.changes.map(each =>
        ids.includes(each.request.metadata.uid) && each.outcome === undefined
          ? { ...each, outcome: { state: 'aborted' as const, message } }
          : each,
      ),
      // The workflow forgets those that it holds first.
      told.length === 0 ? done : withoutOutcome(done),
    ],
    withdrawn: [...draft.withdrawn, ...told.map(({ id }) => ({ id, outcome: 'refused' as const, message }))],
  };
}

/** Lets one step go on that waits for exactly this. */
function approve(draft: Draft, request: EtcdRequest): Draft {
  const { situation, told, holds } = draft;
  const { operation = '', ids = [] } = request.spec;
  const { uid } = request.metadata;
  const { approvals = [] } = holds;
  const expiresAt = timestamp(expiryOf(request));
  const message = `${operation} of ${ids.join(', ')} is approved; the approval is valid for one use until ${expiresAt}`;
  const change = doneAtOnce(request, message, ids);
  const isKnown = approvals.some(each => each.request === uid) || told.spent?.includes(uid) === true;
  if (isKnown) return withChange(draft, change);
  if (!isAccepted(request)) {
    const decision = decide(situation, actorOf(draft));
    const consent = decision.kind === 'blocked' ? decision.consent : undefined;
    if (consent === undefined || !approves({ operation, ids }, consent)) {
      const needed =
        consent === undefined ? 'the plan needs no approval' : `the plan needs ${JSON.stringify(consent)}`;
      return withChange(draft, refusal(request, `nothing waits for this approval: ${needed}`));
    }
  }
  const approval = { ...asked(request, situation.now), operation, ids, expiresAt };
  return {
    ...withChange(draft, change),
    holds: { ...holds, approvals: [...approvals, approval].slice(-MOST_APPROVALS) },
  };
}

/** What operations carry out: it is on the list until it is seen to be done. */
function carryOut(draft: Draft, request: EtcdRequest): Draft {
  const { situation } = draft;
  const kind = requestKind(request.spec);
  if (kind === undefined)
    return withChange(draft, refusal(request, `${request.spec.action} is not for an EtcdCluster`));
  const isOld = isAccepted(request);
  const person: PersonRequest = {
    id: request.metadata.uid,
    kind,
    target: request.spec.member ?? '',
    ...who(request.spec),
    by: request.spec.by,
    at: isOld ? acceptedAt(request) : situation.now,
    ...(isOld && { ids: request.status?.ids ?? [] }),
  };
  if (draft.told.spent?.includes(request.metadata.uid) === true)
    return withChange(draft, {
      request,
      outcome: { state: 'aborted', message: 'aborted before it was complete, by a message to the workflow' },
    });
  const why = isOld ? undefined : superfluous(draft, person);
  if (why !== undefined) return withChange(draft, refusal(request, why));
  const [verdict] = judgeRequests(situation, [person]);
  if (verdict === undefined || verdict.outcome === 'refused')
    return withChange(draft, refusal(request, verdict?.message ?? ''));
  const { message } = verdict;
  if (verdict.outcome === 'done') {
    const listed = isOld ? { ...draft, requests: [...draft.requests, person] } : draft;
    return withChange(listed, doneAtOnce(request, message));
  }
  const ids = verdict.outcome === 'accepted' ? verdict.ids : [];
  const accepted = { state: 'accepted', message, ids } as const;
  return {
    ...withChange(draft, isOld ? { request } : { request, accepted }),
    requests: [...draft.requests, { ...person, ids }],
  };
}

function acceptedAt({ status }: EtcdRequest): number {
  const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
  return parseTimestamp(accepted?.lastTransitionTime) ?? 0;
}

function superfluous(draft: Draft, { kind, target }: PersonRequest): string | undefined {
  const { requests = [] } = actorOf(draft);
  const twin = requests.find(each => each.kind === kind && each.target === target);
  if (twin !== undefined) return `${twin.by} has already sent the same request, and it is not complete yet`;
  return requests.length < MOST
    ? undefined
    : `${MOST} requests are already waiting: send abort to revoke them`;
}
