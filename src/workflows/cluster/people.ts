/** What people asked of a cluster that the world does not say, and what becomes of it. Pure: handlers and passes only call it. */
import type { Actor, Assessment, Operation } from '../../activities/index.ts';
import { OPERATION_OF } from '../../api/values/requests.ts';
import type { Ending } from '../messages/cluster.ts';
import type { Request } from '../../api/values/requests.ts';
import type { CommonMessage } from '../messages/resource.ts';
import { type Approval, unexpired, withApproval } from './approvals.ts';
import { afterVerdicts, type PersonRequest, type Verdict } from './requests.ts';

export interface ClusterPeople {
  readonly paused: Actor['paused'] | undefined;
  /** Asked for, not yet carried out. */
  readonly abort: Request | undefined;
  readonly aborted: Actor['aborted'];
  readonly failed: Actor['failed'];
  /** The run of the operation that ended last. Absent: of an earlier release. */
  readonly ran?: Actor['ran'] | undefined;
  /** Given and not used yet. */
  readonly approvals: readonly Approval[];
  /** Asked for and not done yet. */
  readonly requests: readonly PersonRequest[];
  /** What passes said of requests lately. */
  readonly judged: readonly Verdict[];
  /** Approvals and requests are numbered, over all runs. */
  readonly nextId: number;
  /** Uids of EtcdRequests of which nothing holds any more: a message has ended it, or the approval was used. */
  readonly spent?: readonly string[];
  /** The last message that was refused, and why. */
  readonly refused: string | undefined;
}

/** An operation under way, and what an abort of it holds for. */
export type Running = { readonly operation: Operation } & Pick<
  NonNullable<Actor['aborted']>,
  'generation' | 'subject'
>;

/** What is sent to a cluster's entity, as it is taken. */
export type ClusterMessage =
  | CommonMessage
  | { readonly kind: 'approve'; readonly approval: Approval }
  | { readonly kind: 'ask'; readonly request: PersonRequest }
  | { readonly kind: 'refuse'; readonly message: string }
  /** From the operation: approvals that it has used up. */
  | { readonly kind: 'used'; readonly ids: readonly PersonRequest['id'][] };

export const NOTHING_ASKED: ClusterPeople = {
  paused: undefined,
  abort: undefined,
  aborted: undefined,
  failed: undefined,
  approvals: [],
  requests: [],
  judged: [],
  nextId: 1,
  refused: undefined,
};

/** What people asked for, as the planner takes it. */
export function actorOf({
  paused,
  aborted,
  failed,
  approvals,
  requests,
  spent = [],
}: Pick<ClusterPeople, 'paused' | 'aborted' | 'failed' | 'approvals' | 'requests' | 'spent'>): Actor {
  return {
    ...(paused && { paused }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(spent.length > 0 && { spent }),
  };
}

/** What no longer holds is forgotten: a failure that may be tried again, approvals and requests that have expired. */
export function forgetExpired(people: ClusterPeople, now: number): ClusterPeople {
  const { failed } = people;
  return {
    ...people,
    failed: failed !== undefined && now >= failed.retryAt ? undefined : failed,
    approvals: unexpired(people.approvals, now),
  };
}

/** People after a message, of an entity whose operation and whose last pass these are. */
export function afterMessage(
  { people, running, assessment }: View,
  message: ClusterMessage,
  now: number,
): ClusterPeople {
  const { holding } = assessment ?? {};
  switch (message.kind) {
    case 'pause':
      return { ...people, paused: message.request };
    case 'resume':
      return spend({ ...people, paused: undefined }, [holding?.pause]);
    case 'resync':
      return spend({ ...people, aborted: undefined, failed: undefined }, [holding?.abort]);
    case 'abort':
      return running === undefined
        ? revokeWaiting(people, assessment, message.request)
        : { ...people, abort: message.request };
    case 'approve':
      return {
        ...people,
        nextId: people.nextId + 1,
        approvals: withApproval(people.approvals, message.approval, now),
      };
    case 'ask':
      return { ...people, nextId: people.nextId + 1, requests: [...people.requests, message.request] };
    case 'refuse':
      return { ...people, refused: message.message };
    case 'used':
      return spend(
        { ...people, approvals: people.approvals.filter(({ id }) => !message.ids.includes(id)) },
        message.ids.filter(id => typeof id === 'string'),
      );
  }
}

/** As many uids are remembered: the next pass takes note of them. */
const MOST_SPENT = 32;

/** Nothing holds of these EtcdRequests any more. */
function spend(people: ClusterPeople, uids: readonly (string | undefined)[]): ClusterPeople {
  const known = people.spent ?? [];
  const ended = uids.filter(uid => uid !== undefined && !known.includes(uid)) as string[];
  return ended.length === 0 ? people : { ...people, spent: [...known, ...ended].slice(-MOST_SPENT) };
}

/** What an EtcdRequest has ended is forgotten, unless something newer is there. */
function forgetRevoked(people: ClusterPeople, revoked: NonNullable<Assessment['revoked']>): ClusterPeople {
  const { paused, aborted, failed } = revoked;
  const isAborted =
    aborted?.operation === people.aborted?.operation && aborted?.generation === people.aborted?.generation;
  return {
    ...people,
    ...(paused && paused.at === people.paused?.at && { paused: undefined }),
    ...(aborted && isAborted && { aborted: undefined }),
    ...(failed && failed.retryAt === people.failed?.retryAt && { failed: undefined }),
  };
}

/** What users asked for and is not done: by messages, and by EtcdRequests. */
export function waitingRequests(people: Pick<ClusterPeople, 'requests'>, assessment: Assessment | undefined) {
  return [...people.requests, ...(assessment?.holding?.requests ?? [])];
}

function idsOf(assessment: Assessment | undefined): readonly string[] {
  return (assessment?.holding?.requests ?? []).map(({ id }) => id);
}

interface View {
  readonly people: ClusterPeople;
  readonly running: Running | undefined;
  readonly assessment: Assessment | undefined;
}

/** With no operation running: takes back what was asked for, or keeps what waits for an approval from being done. */
function revokeWaiting(
  people: ClusterPeople,
  assessment: Assessment | undefined,
  by: Request,
): ClusterPeople {
  const waiting = waitingRequests(people, assessment);
  if (waiting.length > 0) return spend({ ...people, requests: [] }, idsOf(assessment));
  const operation = waitsForApproval(assessment);
  if (operation === undefined) return people;
  return { ...people, aborted: { operation, generation: assessment?.generation ?? 0, ...by } };
}

function waitsForApproval(assessment: Assessment | undefined): string | undefined {
  const decision = assessment?.decision;
  return decision?.kind === 'blocked' ? decision.consent?.operation : undefined;
}

/** The answer to an abort that changes nothing. */
export const NOTHING_TO_ABORT = 'nothing to abort: no operation is running';

/** What an abort comes to, as it is answered. */
export function answerToAbort({ people, running, assessment }: View): string {
  if (running !== undefined) return `${running.operation} ends at its next step`;
  const taken = waitingRequests(people, assessment).map(({ kind, target }) => `${kind} ${target}`.trim());
  if (taken.length > 0) return `revoked: ${taken.join(', ')}`;
  const operation = waitsForApproval(assessment);
  if (operation === undefined) return NOTHING_TO_ABORT;
  return `${operation} does not run until the specification changes or you send resync`;
}

/** People after a pass, and whether the next one can go on with what was accepted. */
export function afterPass(
  people: ClusterPeople,
  { verdicts = [], revoked = {} }: Assessment,
): { readonly people: ClusterPeople; readonly isNew: boolean } {
  const { isNew, ...changes } = afterVerdicts(people, verdicts);
  return { people: forgetRevoked({ ...people, ...changes }, revoked), isNew };
}

/** People after an operation. `retryAt`: when it is tried again, had it failed. */
export function afterOperation(
  { people, running, assessment }: View,
  { operation, runId, outcome, message, step, by = people.abort }: Ending,
  retryAt: number,
): ClusterPeople {
  const ran = runId === undefined ? undefined : { operation, runId };
  const left = { ...people, abort: undefined, ran };
  if (outcome === 'failed') {
    const why = message ?? 'no reason was given';
    return { ...left, failed: { operation, ...(step !== undefined && { step }), message: why, retryAt } };
  }
  // An abort that came when it was giving way is kept, as one that it heard of.
  const isAborted = outcome === 'aborted' || (outcome === 'handedBack' && people.abort !== undefined);
  if (!isAborted || running === undefined) return left;
  // What somebody asked for is taken back; what the specification asks for is kept from being done again.
  const request = waitingRequests(people, assessment).find(({ kind }) => OPERATION_OF[kind] === operation);
  if (request !== undefined) {
    const { id } = request;
    const requests = people.requests.filter(each => each.id !== id);
    return spend({ ...left, requests }, [typeof id === 'string' ? id : undefined]);
  }
  return { ...left, aborted: { ...running, ...by } };
}
