/**
 * What becomes of the EtcdRequests of a cluster in one pass. They are judged oldest first, each upon what the ones before it have come to;
 * what users sent to the workflow itself comes with the state of the workflow, and both together are what the planner takes. Pure.
 */
import type { EtcdClusterStatus, EtcdRequest } from '../../api/schemas/types.ts';
import { judgeRequests, stillOpen, type Verdict } from './judge.ts';
import type { WorkflowState } from '../model/workflow-state.ts';
import type { Situation } from '../model/situation.ts';
import { abort, abortable } from './abort.ts';
import { approve, carryOut } from './carry-out.ts';
import {
  doneAtOnce,
  isAccepted,
  openRequests,
  type Target,
  unfit,
  type HeldRequests,
  withoutOutcome,
} from './common.ts';
import { workflowStateOf, type Draft, draftOf, heldOf, revoke, withChange } from './draft.ts';
import { pauseBy, resumeBy } from './pause.ts';
import { mirroredSignals, type OpenSignals, signalsLeft, takenOver } from './signals.ts';
import { recover } from './recover.ts';
import type { RequestChange } from './status.ts';

/** What a pass makes of the requests. */
export interface Settled {
  /** What users want, by requests and by messages to the workflow, as the planner takes it. */
  readonly workflowState: WorkflowState;
  /** What holds of the requests, for the status of the cluster; undefined: nothing. */
  readonly holds: HeldRequests | undefined;
  readonly changes: readonly RequestChange[];
  /** What users asked the workflow for and is still open, for the status of the cluster; undefined: nothing. */
  readonly signals: EtcdClusterStatus['signals'];
  /** What a run that begins anew takes over from the status. */
  readonly takenOver: OpenSignals;
  /** What the workflow holds and a request has ended. */
  readonly revoked: Pick<WorkflowState, 'paused' | 'aborted' | 'failed'>;
  /** Verdicts on requests that the workflow holds. */
  readonly verdicts: readonly Verdict[];
}

/** Judges every open request of the cluster. @param seen its workflow state holds what users sent to the workflow */
export function settleRequests(seen: Situation, target: Target): Settled {
  const { cluster, now, requests = [] } = seen;
  const { takesOver, used, ...own } = seen.workflowState;
  const resource = { uid: cluster.uid, generation: cluster.generation, now };
  const { signals: mirrored } = cluster.status;
  const taken = takenOver(mirrored, takesOver, resource);
  const workflowState = withTaken(own, taken);
  const situation = { ...seen, workflowState };
  let draft = draftOf(situation, workflowState);
  for (const request of openRequests(requests)) {
    const outcome = unfit(request, target, now);
    draft = outcome === undefined ? settle(draft, request) : withChange(draft, { request, outcome });
  }
  const { changes, revoked, withdrawn, sent } = draft;
  const kept = (workflowState.requests ?? []).filter(({ id }) => !withdrawn.some(each => each.id === id));
  const verdicts = judgeRequests(situation, kept);
  const open = { ...sent, requests: stillOpen(kept, verdicts) };
  return {
    workflowState: workflowStateOf(draft),
    holds: heldOf(draft),
    changes,
    signals: used === undefined ? mirroredSignals(open, resource) : signalsLeft(mirrored, used),
    takenOver: taken,
    revoked,
    verdicts: [...verdicts, ...withdrawn],
  };
}

/** What the run holds goes before what it takes over. */
function withTaken(
  workflowState: WorkflowState,
  { approvals = [], requests = [], ...taken }: OpenSignals,
): WorkflowState {
  const approved = [...approvals, ...(workflowState.approvals ?? [])];
  const asked = [...requests, ...(workflowState.requests ?? [])];
  return {
    ...taken,
    ...workflowState,
    ...(approved.length > 0 && { approvals: approved }),
    ...(asked.length > 0 && { requests: asked }),
  };
}

function settle(draft: Draft, request: EtcdRequest): Draft {
  switch (request.spec.action) {
    case 'Pause':
      return pauseBy(draft, request);
    case 'Resume':
      return resumeBy(draft, request);
    case 'Resync':
      return resync(draft, request);
    case 'Abort':
      return abort(draft, request, abortable);
    case 'Approve':
      return approve(draft, request);
    case 'RecoverQuorum':
      return recover(draft, request);
    default:
      return carryOut(draft, request);
  }
}

const keyOfAborted = ({ operation, generation }: NonNullable<WorkflowState['aborted']>): string =>
  `abort of ${operation} ${generation}`;
const keyOfFailed = ({ operation, retryAt }: NonNullable<WorkflowState['failed']>): string =>
  `failure of ${operation} ${retryAt}`;

/** What was aborted, or has failed and waits, is tried again now. */
function resync(draft: Draft, request: EtcdRequest): Draft {
  const { sent, holds } = draft;
  const { aborted, failed } = sent;
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
