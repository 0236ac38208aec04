/** An abort of the operation that goes on, or of what waits. Pure. */
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { OPERATION_OF } from '../../api/actions.ts';
import type { Operation } from '../../api/operations.ts';
import { doesNotRun, endsAtNextStep, NOTHING_TO_ABORT, revoked } from '../../api/values/request-answers.ts';
import { waitingOperation } from '../../api/values/waiting-operation.ts';
import { requestUnderWay } from '../checks/user-requests.ts';
import { attribution, type UserRequest } from '../model/workflow-state.ts';
import { decide } from '../plan.ts';
import { asked, doneAtOnce, isAccepted, refusal, withoutOutcome } from './common.ts';
import { workflowStateOf, type Draft, type DuringStep, withChange } from './draft.ts';

/** What an abort comes to. */
export type Aborting =
  | {
      readonly kind: 'operation';
      readonly operation: string;
      readonly subject?: string;
      readonly message: string;
    }
  | { readonly kind: 'requests'; readonly ids: readonly string[] };

/** The first id of an abort of requests; that of an operation has its name there. */
const REQUESTS = 'requests';

/** The operation that has begun and goes on, else all requests that wait, else the operation that waits. */
export function abortable(draft: Draft): Aborting | undefined {
  const { situation } = draft;
  const workflowState = workflowStateOf(draft);
  const decision = decide({ ...situation, workflowState });
  if (decision.kind === 'operate' && situation.cluster.status.operation?.type === decision.operation)
    return abortOfOperation(draft, decision);
  const { requests = [] } = workflowState;
  if (requests.length > 0) return { kind: 'requests', ids: requests.map(({ id }) => String(id)) };
  const waiting = waitingOperation(decision);
  return waiting && { kind: 'operation', ...waiting, message: doesNotRun(waiting.operation) };
}

/** What somebody asked for is taken back; what the specification asks for is kept from being done again. */
export function abortOfOperation(
  draft: Draft<DuringStep>,
  { operation, subject }: { readonly operation: Operation; readonly subject?: string },
): Aborting {
  const under = requestUnderWay({ workflowState: workflowStateOf(draft) });
  if (under !== undefined && OPERATION_OF[under.kind] === operation)
    return { kind: 'requests', ids: [String(under.id)] };
  const message = endsAtNextStep(operation);
  return { kind: 'operation', operation, ...(subject !== undefined && { subject }), message };
}

/** Ends what goes on, or takes back what waits. @param found what there is to abort; undefined: nothing */
export function abort<Seen extends DuringStep>(
  draft: Draft<Seen>,
  request: EtcdRequest,
  found: (draft: Draft<Seen>) => Aborting | undefined,
): Draft<Seen> {
  const aborting = isAccepted(request) ? acceptedAbort(request) : found(draft);
  if (aborting === undefined) return withChange(draft, refusal(request, NOTHING_TO_ABORT));
  if (aborting.kind === 'requests') return withdraw(draft, request, aborting.ids);
  const { operation, subject, message } = aborting;
  const { uid } = request.metadata;
  const { situation, sent, holds } = draft;
  const change = doneAtOnce(request, message, [operation, ...(subject === undefined ? [] : [subject])]);
  if (holds.abort?.request === uid || sent.spent?.includes(uid) === true) return withChange(draft, change);
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
function withdraw<Seen extends DuringStep>(
  draft: Draft<Seen>,
  request: EtcdRequest,
  ids: readonly string[],
): Draft<Seen> {
  const message = `aborted before it was complete by ${attribution(request.spec)}`;
  const isMeant = ({ id }: UserRequest) => ids.includes(String(id));
  const sent = (draft.sent.requests ?? []).filter(isMeant);
  const all = [...(draft.sent.requests ?? []), ...draft.requests].filter(isMeant);
  const answer = request.status?.message;
  const done = doneAtOnce(request, isAccepted(request) && answer !== undefined ? answer : revoked(all), [
    REQUESTS,
    ...ids,
  ]);
  return {
    ...draft,
    sent: { ...draft.sent, requests: (draft.sent.requests ?? []).filter(each => !isMeant(each)) },
    requests: draft.requests.filter(each => !isMeant(each)),
    changes: [
      ...draft.changes.map(each =>
        ids.includes(each.request.metadata.uid) && each.outcome === undefined
          ? { ...each, outcome: { state: 'aborted' as const, message } }
          : each,
      ),
      // The workflow forgets those that it holds first.
      sent.length === 0 ? done : withoutOutcome(done),
    ],
    withdrawn: [...draft.withdrawn, ...sent.map(({ id }) => ({ id, outcome: 'refused' as const, message }))],
  };
}
