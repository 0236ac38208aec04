/**
 * What becomes of the EtcdRequests of a cluster in one pass. They are judged oldest first, each upon what the ones before it have come to;
 * what users sent to the workflow itself comes with the actor, and both together are what the planner takes. Pure.
 */
import type { EtcdClusterStatus, EtcdRequest } from '../../api/schemas/types.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { PAUSED } from '../../api/values/request-answers.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import { judgeRequests, type Verdict } from './judge.ts';
import type { WorkflowState } from '../model/workflow-state.ts';
import type { Situation } from '../model/situation.ts';
import { abort } from './abort.ts';
import { approve, carryOut } from './carry-out.ts';
import {
  doneAtOnce,
  isAccepted,
  openRequests,
  pause,
  resume,
  type Target,
  unfit,
  type UserRequests,
  withoutOutcome,
} from './common.ts';
import { actorOf, type Draft, revoke, withChange } from './draft.ts';
import { mirroredSignals, type OpenSignals, signalsLeft, takenOver } from './signals.ts';
import type { RequestChange } from './status.ts';

/** What a pass makes of the requests. */
export interface Settled {
  /** What users want, by requests and by messages to the workflow, as the planner takes it. */
  readonly actor: WorkflowState;
  /** What holds of the requests, for the status of the cluster; undefined: nothing. */
  readonly holds: UserRequests | undefined;
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

/** Judges every open request of the cluster. @param seen with what the workflow holds of users as its actor */
export function settleRequests(seen: Situation, target: Target): Settled {
  const { cluster, now, requests = [] } = seen;
  const { takesOver, used, ...own } = seen.actor;
  const resource = { uid: cluster.uid, generation: cluster.generation, now };
  const { signals: mirrored } = cluster.status;
  const taken = takesOver === undefined ? {} : takenOver(mirrored, takesOver, resource);
  const actor = withTaken(own, taken);
  const situation = { ...seen, actor };
  const { pause: held, abort: aborted, approvals = [] } = cluster.status.userRequests ?? {};
  const isSpent = ({ request }: { readonly request: string }) => actor.spent?.includes(request) === true;
  const abort = aborted?.generation === cluster.generation ? aborted : undefined;
  let draft: Draft = {
    situation,
    sent: actor,
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
  const { changes, revoked, withdrawn, sent } = draft;
  const kept = (actor.requests ?? []).filter(({ id }) => !withdrawn.some(each => each.id === id));
  return {
    actor: actorOf(draft),
    holds: heldOf(draft.holds),
    changes,
    signals: used === undefined ? mirroredSignals(sent, resource) : signalsLeft(mirrored, used),
    takenOver: taken,
    revoked,
    verdicts: [...judgeRequests(situation, kept), ...withdrawn],
  };
}

/** What the run holds goes before what it takes over. */
function withTaken(actor: WorkflowState, { approvals = [], ...taken }: OpenSignals): WorkflowState {
  const all = [...approvals, ...(actor.approvals ?? [])];
  return { ...taken, ...actor, ...(all.length > 0 && { approvals: all }) };
}

function heldOf({ pause: held, abort, approvals = [] }: UserRequests): UserRequests | undefined {
  const holds = {
    ...(held && { pause: held }),
    ...(abort && { abort }),
    ...(approvals.length > 0 && { approvals }),
  };
  return Object.keys(holds).length === 0 ? undefined : holds;
}

function settle(draft: Draft, request: EtcdRequest): Draft {
  const { situation, sent, holds } = draft;
  const { now } = situation;
  switch (request.spec.action) {
    case 'Pause': {
      const answer = PAUSED;
      const paused = pause({ pause: holds.pause, message: sent.paused }, request, {
        spent: sent.spent ?? [],
        now,
        answer,
      });
      return withPause(withChange(draft, paused.change), paused.pause);
    }
    case 'Resume': {
      const { change, revoked, pause: left } = resume({ pause: holds.pause, message: sent.paused }, request);
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
