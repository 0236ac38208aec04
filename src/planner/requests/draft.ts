/** What a pass knows of users' requests while it judges one of them after the other. Pure. */
import { parseTimestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { Verdict } from './judge.ts';
import type { WorkflowState, UserRequest } from '../model/workflow-state.ts';
import type { Situation } from '../model/situation.ts';
import { type UserRequests, who } from './common.ts';
import type { RequestChange } from './status.ts';

export interface Draft {
  readonly situation: Situation;
  /** What the workflow holds, without what a request has ended. */
  readonly sent: WorkflowState;
  readonly holds: UserRequests;
  readonly requests: readonly UserRequest[];
  readonly changes: readonly RequestChange[];
  /** What the workflow holds and a request has ended. */
  readonly revoked: Pick<WorkflowState, 'paused' | 'aborted' | 'failed'>;
  /** Of requests that the workflow holds. */
  readonly withdrawn: readonly Verdict[];
}

/** What users want by now. */
export function actorOf({ sent, holds, requests }: Draft): WorkflowState {
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
  const all = [...(sent.requests ?? []), ...requests].toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
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
function abortedOf(sent: WorkflowState['aborted'], held: UserRequests['abort']): WorkflowState['aborted'] {
  if (held === undefined || (sent?.at ?? 0) > (parseTimestamp(held.at) ?? 0)) return sent;
  const { operation, generation, subject } = held;
  return { operation, generation, ...(subject !== undefined && { subject }), ...who(held) };
}

export function withChange(draft: Draft, change: RequestChange): Draft {
  return { ...draft, changes: [...draft.changes, change] };
}

/** The workflow is to forget this, and the pass does not count it any more. */
export function revoke(draft: Draft, ended: Draft['revoked']): Draft {
  const left = Object.entries(draft.sent).filter(([field]) => !Object.hasOwn(ended, field));
  return { ...draft, sent: Object.fromEntries(left), revoked: { ...draft.revoked, ...ended } };
}
