/**
 * Steps that are not taken without a person. A planner asks for consent to exactly one thing, named by ids that are
 * never used for another; until it is given the plan is blocked, and the message says what to send
 * (docs/operations/intervene.md, "Approvals").
 */
import { howToAsk } from '../../api/values/request-answers.ts';
import { approves } from '../../api/values/consent.ts';
import type { Consent, Obstacle } from '../model/decision.ts';
import type { Situation } from '../model/situation.ts';
import type { Approval } from '../model/workflow-state.ts';

/** Consent was given, and by which approval, or what to report to users until it is. */
export type Answer = { readonly approval: Approval } | { readonly obstacle: Obstacle };

/**
 * Whether somebody approved of this. Hand the approval to `operate` beside the step that it lets go on: performing that
 * step uses it up. `why` says what stands in the way without it; its reason is shown as it is.
 */
export function consentTo(
  { workflowState, now }: Pick<Situation, 'workflowState' | 'now'>,
  consent: Consent,
  why: Pick<Obstacle, 'reason' | 'message'>,
): Answer {
  const approval = workflowState.approvals?.find(each => now < each.expiresAt && approves(each, consent));
  if (approval !== undefined) return { approval };
  return { obstacle: asking(consent, why) };
}

/** What is reported to users until this is approved. */
export function asking(consent: Consent, why: Pick<Obstacle, 'reason' | 'message'>): Obstacle {
  return { ...why, message: `${why.message}; to approve it, ${howTo(consent)}`, consent };
}

/** The message to send, as users type it. */
function howTo({ operation, ids }: Consent): string {
  return `${howToAsk('approve')} with ${JSON.stringify({ operation, ids, by: 'your name' })}`;
}
