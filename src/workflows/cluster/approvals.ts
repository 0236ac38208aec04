/** Approvals as users send them, and for how long they hold. Pure. */
import type { WorkflowState, Assessment } from '../../activities/index.ts';
import { approves } from '../../api/values/consent.ts';
import { MOST_APPROVALS, nothingWaitsFor } from '../../api/values/request-answers.ts';
import type { ApproveRequest } from '../messages/cluster.ts';
import { identityText, isText, shortText } from '../messages/text.ts';

export type Approval = NonNullable<WorkflowState['approvals']>[number];

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
/** No operation and nothing that is approved of has a longer name; what is remembered is handed from run to run. */
const LONGEST_NAME = 256;

/** What was sent, as an approval that holds for an hour or as long as it says, or why it is none. */
export function approvalFrom(
  sent: unknown,
  { id, now }: { readonly id: number; readonly now: number },
): Approval | string {
  const { operation, ids, by, reason, expiresInSeconds } = (sent ?? {}) as Partial<
    Record<keyof ApproveRequest, unknown>
  >;
  const example = '{"operation":"replaceMember","ids":["8e9e05c5"],"by":"ana"}';
  if (!isName(operation)) return `"operation" is missing: send ${example}`;
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every(isName))
    return `"ids" must list the ids to approve: send ${example}`;
  if (!isText(by)) return `"by" must name the person who approves: send ${example}`;
  const seconds = typeof expiresInSeconds === 'number' ? expiresInSeconds : HOUR_SECONDS;
  if (!(seconds > 0 && seconds <= DAY_SECONDS))
    return `"expiresInSeconds" must be between 1 and ${DAY_SECONDS}`;
  return {
    id,
    operation,
    ids: ids.slice(0, MOST_APPROVALS),
    by: identityText(by),
    ...(isText(reason) && { reason: shortText(reason) }),
    expiresAt: now + seconds * 1_000,
  };
}

function isName(value: unknown): value is string {
  return isText(value) && value.length <= LONGEST_NAME;
}

/** Those that still hold, with a new one. */
export function withApproval(known: readonly Approval[], approval: Approval, now: number): Approval[] {
  return [...unexpired(known, now), approval].slice(-MOST_APPROVALS);
}

/** Those that have not expired. */
export function unexpired(known: readonly Approval[], now: number): Approval[] {
  return known.filter(({ expiresAt }) => now < expiresAt);
}

/** Whether the plan waits for exactly what was sent. */
export function isNeeded(assessment: Assessment | undefined, sent: unknown): boolean {
  const decision = assessment?.decision;
  if (decision?.kind !== 'blocked' || decision.consent === undefined) return false;
  return approves(sent ?? {}, decision.consent);
}

/** Why an approval is refused: what the plan waits for instead. */
export function notNeeded(assessment: Assessment | undefined): string {
  const decision = assessment?.decision;
  return nothingWaitsFor(decision?.kind === 'blocked' ? decision.consent : undefined);
}
