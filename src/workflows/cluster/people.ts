/** What people asked of a cluster that the world does not say, and what becomes of it. Pure: handlers and passes only call it. */
import type { Actor, Assessment, Operation } from '../../activities/index.ts';
import { type Given, OPERATION_OF } from '../../api/values/requests.ts';
import type { Ending } from '../messages/cluster.ts';
import type { Request } from '../../api/values/requests.ts';
import type { CommonMessage } from '../messages/resource.ts';
import { remember, type Remembering } from '../engine/given.ts';
import { type Approval, unexpired, withApproval } from './approvals.ts';
import { expireGiven, noteGiven } from './given.ts';
import { afterVerdicts, type PersonRequest, type Verdict } from './requests.ts';

export interface ClusterPeople extends Remembering {
  readonly paused: Request | undefined;
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
  | { readonly kind: 'ask'; readonly request: PersonRequest; readonly given?: Given | undefined }
  | { readonly kind: 'refuse'; readonly message: string }
  /** From the operation: approvals that it has used up. */
  | { readonly kind: 'used'; readonly ids: readonly number[] };

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
}: Pick<ClusterPeople, 'paused' | 'aborted' | 'failed' | 'approvals' | 'requests'>): Actor {
  return {
    ...(paused && { paused }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
  };
}

/** What no longer holds is forgotten: a failure that may be tried again, approvals and requests that have expired. */
export function forgetExpired(known: ClusterPeople, now: number): ClusterPeople {
  const people = expireGiven(known, now);
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
  switch (message.kind) {
    case 'pause':
      return { ...people, paused: message.request };
    case 'resume':
      return { ...people, paused: undefined };
    case 'resync':
      return { ...people, aborted: undefined, failed: undefined };
    case 'abort':
      return running === undefined
        ? noteGiven(revokeWaiting(people, assessment, message.request))
        : { ...people, abort: message.request };
    case 'approve':
      return {
        ...people,
        nextId: people.nextId + 1,
        approvals: withApproval(people.approvals, message.approval, now),
      };
    case 'ask':
      return withRequest(people, message);
    case 'given':
      return remember(people, message.given, { state: 'done', message: message.answer });
    case 'refuse':
      return { ...people, refused: message.message };
    case 'used':
      return { ...people, approvals: people.approvals.filter(({ id }) => !message.ids.includes(id)) };
  }
}

function withRequest(
  people: ClusterPeople,
  { request, given }: Extract<ClusterMessage, { kind: 'ask' }>,
): ClusterPeople {
  const asked = { ...people, nextId: people.nextId + 1, requests: [...people.requests, request] };
  if (given === undefined) return asked;
  return remember(asked, given, { id: request.id, state: 'waiting', message: 'no pass has judged it yet' });
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
  if (people.requests.length > 0) return { ...people, requests: [] };
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
  const taken = people.requests.map(({ kind, target }) => `${kind} ${target}`.trim());
  if (taken.length > 0) return `revoked: ${taken.join(', ')}`;
  const operation = waitsForApproval(assessment);
  if (operation === undefined) return NOTHING_TO_ABORT;
  return `${operation} does not run until the specification changes or you send resync`;
}

/** People after a pass, and whether the next one can go on with what was accepted. */
export function afterPass(
  people: ClusterPeople,
  { verdicts = [] }: Assessment,
): { readonly people: ClusterPeople; readonly isNew: boolean } {
  const { isNew, ...changes } = afterVerdicts(people, verdicts);
  return { people: noteGiven({ ...people, ...changes }), isNew };
}

/** People after an operation. `retryAt`: when it is tried again, had it failed. */
export function afterOperation(
  { people, running }: Omit<View, 'assessment'>,
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
  const [request, ...others] = people.requests;
  // What somebody asked for is taken back; what the specification asks for is kept from being done again.
  if (request !== undefined && OPERATION_OF[request.kind] === operation)
    return noteGiven({ ...left, requests: others });
  return { ...left, aborted: { ...running, ...by } };
}
