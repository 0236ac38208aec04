/** What a pass knows of users' requests while it judges one of them after the other. Pure. */
import { oldestFirst } from '../../api/values/requests.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { Verdict } from './judge.ts';
import type { WorkflowState, UserRequest } from '../model/workflow-state.ts';
import type { Situation } from '../model/situation.ts';
import { type HeldRequests, who } from './common.ts';
import type { RequestChange } from './status.ts';

/** What is seen while a step of an operation is under way. */
export type DuringStep = Pick<Situation, 'now' | 'workflowState' | 'requests'> & {
  readonly cluster: Pick<Situation['cluster'], 'uid' | 'generation' | 'status'>;
};

/** @typeParam Seen what is known of the cluster */
export interface Draft<Seen extends DuringStep = Situation> {
  readonly situation: Seen;
  /** What the workflow holds, without what a request has ended. */
  readonly sent: WorkflowState;
  readonly holds: HeldRequests;
  readonly requests: readonly UserRequest[];
  readonly changes: readonly RequestChange[];
  /** What the workflow holds and a request has ended. */
  readonly revoked: Pick<WorkflowState, 'paused' | 'aborted' | 'failed'>;
  /** Of requests that the workflow holds. */
  readonly withdrawn: readonly Verdict[];
}

/** What holds before the requests are judged. @param workflowState what the workflow holds, and what it takes over */
export function draftOf<Seen extends DuringStep>(situation: Seen, workflowState: WorkflowState): Draft<Seen> {
  const { cluster, now } = situation;
  const { pause, abort, approvals = [] } = cluster.status.userRequests ?? {};
  const isSpent = ({ request }: { readonly request: string }) =>
    workflowState.spent?.includes(request) === true;
  const isAborted = abort?.generation === cluster.generation && !isSpent(abort);
  return {
    situation,
    sent: workflowState,
    holds: withoutUndefined<HeldRequests>({
      pause: pause && !isSpent(pause) ? pause : undefined,
      abort: isAborted ? abort : undefined,
      approvals: approvals.filter(each => !isSpent(each) && now < (parseTimestamp(each.expiresAt) ?? 0)),
    }),
    requests: [],
    changes: [],
    revoked: {},
    withdrawn: [],
  };
}

/** What stands in the status of it; undefined: nothing holds. */
export function heldOf({
  holds: { pause, abort, approvals = [] },
}: Draft<DuringStep>): HeldRequests | undefined {
  const holds = {
    ...(pause && { pause }),
    ...(abort && { abort }),
    ...(approvals.length > 0 && { approvals }),
  };
  return Object.keys(holds).length === 0 ? undefined : holds;
}

/** What users want by now. */
export function workflowStateOf({ sent, holds, requests }: Draft<DuringStep>): WorkflowState {
  const { approvals = [] } = holds;
  const allApprovals = [
    ...(sent.approvals ?? []),
    ...approvals.map(({ request: id, operation, ids, by, reason, expiresAt }) => ({
      id,
      operation,
      ids,
      by,
      ...(reason !== undefined && { reason }),
      expiresAt: parseTimestamp(expiresAt) ?? 0,
    })),
  ];
  const all = oldestFirst([...(sent.requests ?? []), ...requests]);
  const { approvals: _, requests: __, spent: ___, ...others } = sent;
  return withoutUndefined<WorkflowState>({
    ...others,
    paused: holds.pause === undefined ? sent.paused : who(holds.pause),
    aborted: abortedOf(sent.aborted, holds.abort),
    approvals: allApprovals.length > 0 ? allApprovals : undefined,
    requests: all.length > 0 ? all : undefined,
  });
}

/** The abort that came last. */
function abortedOf(sent: WorkflowState['aborted'], held: HeldRequests['abort']): WorkflowState['aborted'] {
  if (held === undefined || (sent?.at ?? 0) > (parseTimestamp(held.at) ?? 0)) return sent;
  const { operation, generation, subject } = held;
  return { operation, generation, ...(subject !== undefined && { subject }), ...who(held) };
}

export function withChange<Seen extends DuringStep>(draft: Draft<Seen>, change: RequestChange): Draft<Seen> {
  return { ...draft, changes: [...draft.changes, change] };
}

/** The workflow is to forget this, and the pass does not count it any more. */
export function revoke<Seen extends DuringStep>(draft: Draft<Seen>, ended: Draft['revoked']): Draft<Seen> {
  const left = Object.entries(draft.sent).filter(([field]) => !Object.hasOwn(ended, field));
  return { ...draft, sent: Object.fromEntries(left), revoked: { ...draft.revoked, ...ended } };
}
