/** An approval, and what operations of the cluster carry out. Pure. */
import { expiryOf, requestKind } from '../../api/derived/requests.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { approves } from '../../api/values/consent.ts';
import {
  approvedUntil,
  MOST_APPROVALS,
  nothingWaitsFor,
  whyNotListed,
} from '../../api/values/request-answers.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { judgeRequests } from './judge.ts';
import type { UserRequest } from '../model/workflow-state.ts';
import { decide } from '../plan.ts';
import { asked, doneAtOnce, isAccepted, refusal, who } from './common.ts';
import { workflowStateOf, type Draft, withChange } from './draft.ts';
import type { Outcome } from './status.ts';

/** Lets one step go on that waits for exactly this. */
export function approve(draft: Draft, request: EtcdRequest): Draft {
  const { situation, sent, holds } = draft;
  const { operation = '', ids = [] } = request.spec;
  const { uid } = request.metadata;
  const { approvals = [] } = holds;
  const expiresAt = timestamp(expiryOf(request));
  const message = approvedUntil(operation, ids, expiresAt);
  const change = doneAtOnce(request, message, ids);
  const isKnown = approvals.some(each => each.request === uid) || sent.spent?.includes(uid) === true;
  if (isKnown) return withChange(draft, change);
  if (!isAccepted(request)) {
    const decision = decide({ ...situation, workflowState: workflowStateOf(draft) });
    const consent = decision.kind === 'blocked' ? decision.consent : undefined;
    if (consent === undefined || !approves({ operation, ids }, consent))
      return withChange(draft, refusal(request, nothingWaitsFor(consent)));
  }
  const approval = { ...asked(request, situation.now), operation, ids, expiresAt };
  return {
    ...withChange(draft, change),
    holds: { ...holds, approvals: [...approvals, approval].slice(-MOST_APPROVALS) },
  };
}

/** What operations carry out: it is on the list until it is seen to be done. */
export function carryOut(draft: Draft, request: EtcdRequest): Draft {
  const { action } = request.spec;
  const userRequest = userRequestOf(request, draft.situation.now);
  if (userRequest === undefined)
    return withChange(draft, refusal(request, `${action} is not for an EtcdCluster`));
  const aborted = abortedByMessage(draft, request);
  if (aborted !== undefined) return withChange(draft, { request, outcome: aborted });
  const why = userRequest.ids === undefined ? superfluous(draft, userRequest) : undefined;
  return why === undefined ? judge(draft, request, userRequest) : withChange(draft, refusal(request, why));
}

/** What became of a request that a message to the workflow has aborted; undefined: none has. */
export function abortedByMessage(
  { sent }: Pick<Draft, 'sent'>,
  { metadata }: EtcdRequest,
): Outcome | undefined {
  if (sent.spent?.includes(metadata.uid) !== true) return undefined;
  return { state: 'aborted', message: 'aborted before it was complete, by a message to the workflow' };
}

/** The request as the planner takes it; undefined: no operation carries it out. */
export function userRequestOf(request: EtcdRequest, now: number): UserRequest | undefined {
  const { spec, metadata, status } = request;
  const kind = requestKind(spec);
  if (kind === undefined) return undefined;
  const accepted = isAccepted(request) ? { at: acceptedAt(request), ids: status?.ids ?? [] } : { at: now };
  return { id: metadata.uid, kind, target: spec.member ?? '', ...who(spec), by: spec.by, ...accepted };
}

/** As things are now: refused, done, or under way. */
function judge(draft: Draft, request: EtcdRequest, userRequest: UserRequest): Draft {
  const isOld = userRequest.ids !== undefined;
  const [verdict] = judgeRequests(draft.situation, [userRequest]);
  const { outcome, message } = verdict ?? /* v8 ignore next -- there is one of each request */ {
    outcome: 'refused',
    message: '',
  };
  if (verdict?.outcome === 'accepted') {
    const { ids } = verdict;
    return {
      ...withChange(draft, isOld ? { request } : { request, accepted: { state: 'accepted', message, ids } }),
      requests: [...draft.requests, { ...userRequest, ids }],
    };
  }
  if (outcome !== 'done') return withChange(draft, refusal(request, message));
  // The report of this pass says for whom the operation was.
  const listed = isOld ? { ...draft, requests: [...draft.requests, userRequest] } : draft;
  return withChange(listed, doneAtOnce(request, message));
}

function acceptedAt({ status }: EtcdRequest): number {
  const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
  return parseTimestamp(accepted?.lastTransitionTime) ?? 0;
}

function superfluous(draft: Draft, { kind, target }: UserRequest): string | undefined {
  const { requests = [] } = workflowStateOf(draft);
  return whyNotListed(requests, { kind, target });
}
