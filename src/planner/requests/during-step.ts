/**
 * What becomes of the EtcdRequests of a cluster while a step of an operation is under way, which may take hours. The members are not observed
 * then, so only a pause, its end and an abort are judged, which need no more than what is known; the others wait for the pass after the step. Pure.
 */
import type { EtcdClusterStatus, EtcdRequest } from '../../api/schemas/types.ts';
import type { Operation } from '../../api/operations.ts';
import { abort, abortOfOperation } from './abort.ts';
import { abortedByMessage, userRequestOf } from './carry-out.ts';
import { isAccepted, openRequests, type Target, unfit, type HeldRequests } from './common.ts';
import { type Draft, draftOf, type DuringStep, heldOf, withChange } from './draft.ts';
import type { Verdict } from './judge.ts';
import { pauseBy, resumeBy } from './pause.ts';
import { mirroredSignals } from './signals.ts';
import type { RequestChange } from './status.ts';

export interface UnderWay {
  readonly operation: Operation;
  readonly subject?: string;
}

export interface SettledDuringStep {
  readonly holds: HeldRequests | undefined;
  readonly signals: EtcdClusterStatus['signals'];
  readonly changes: readonly RequestChange[];
  readonly revoked: Draft['revoked'];
  readonly verdicts: readonly Verdict[];
  /** Whether the operation has to end after its step. */
  readonly ends: boolean;
}

/** @param seen its workflow state is what the workflow of the resource holds */
export function settleDuringStep(seen: DuringStep, underWay: UnderWay, target: Target): SettledDuringStep {
  const { requests = [], now, cluster, workflowState } = seen;
  let draft = draftOf(seen, workflowState);
  for (const request of openRequests(requests)) {
    const outcome = unfit(request, target, now);
    draft =
      outcome === undefined ? settle(draft, request, underWay) : withChange(draft, { request, outcome });
  }
  const { changes, revoked, withdrawn, sent, holds } = draft;
  const { uid, generation } = cluster;
  const isWithdrawn = withdrawn.length > 0 || changes.some(({ outcome }) => outcome?.state === 'aborted');
  const isAborted = holds.abort?.operation === underWay.operation;
  return {
    holds: heldOf(draft),
    signals: mirroredSignals(sent, { uid, generation, now }),
    changes,
    revoked,
    verdicts: withdrawn,
    ends: holds.pause !== undefined || isAborted || isWithdrawn,
  };
}

function settle(draft: Draft<DuringStep>, request: EtcdRequest, underWay: UnderWay): Draft<DuringStep> {
  switch (request.spec.action) {
    case 'Pause':
      return pauseBy(draft, request);
    case 'Resume':
      return resumeBy(draft, request);
    case 'Abort':
      return abort(draft, request, so => abortOfOperation(so, underWay));
    default:
      return isAccepted(request) ? carriedOn(draft, request) : waiting(draft, request, underWay);
  }
}

/** Accepted by a pass, and not judged again before the step has ended. */
function carriedOn(draft: Draft<DuringStep>, request: EtcdRequest): Draft<DuringStep> {
  const userRequest = userRequestOf(request, draft.situation.now);
  const aborted = userRequest && abortedByMessage(draft, request);
  if (aborted !== undefined) return withChange(draft, { request, outcome: aborted });
  const after = withChange(draft, { request });
  return userRequest === undefined ? after : { ...after, requests: [...draft.requests, userRequest] };
}

function waiting(draft: Draft<DuringStep>, request: EtcdRequest, { operation }: UnderWay): Draft<DuringStep> {
  const message = `${operation} is under way: the pass after its present step judges the request`;
  return withChange(draft, { request, outcome: { state: 'waiting', message } });
}
