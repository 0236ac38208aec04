/**
 * Steps that are not taken without a person. A planner asks for consent to exactly one thing, named by ids that are
 * never used for another; until it is given the plan is blocked, and the message says what to send
 * (docs/operations/intervene.md, "Approving").
 */
import type { Obstacle } from '../model/obstacle.ts';
import type { Consent } from '../model/decision.ts';
import type { Observation } from '../model/observation.ts';
import type { Approval } from '../model/actor.ts';

/** Consent was given, and by which approval, or what to tell people until it is. */
export type Answer = { readonly approval: Approval } | { readonly obstacle: Obstacle };

/**
 * Whether somebody approved of this. Hand the approval to `operate` beside the step that it lets go on: performing that
 * step uses it up. `why` says what stands in the way without it; its reason is shown as it is.
 */
export function consentTo(
  { actor, now }: Observation,
  consent: Consent,
  why: Pick<Obstacle, 'reason' | 'message'>,
): Answer {
  const approval = actor?.approvals?.find(given => now < given.expiresAt && isFor(given, consent));
  if (approval !== undefined) return { approval };
  return { obstacle: { ...why, message: `${why.message}; to approve it, ${howTo(consent)}`, consent } };
}

/** Whether the approval names this and nothing else. */
function isFor(approval: Pick<Approval, 'operation' | 'ids'>, consent: Consent): boolean {
  const named = new Set(approval.ids);
  return (
    approval.operation === consent.operation &&
    named.size === consent.ids.length &&
    consent.ids.every(id => named.has(id))
  );
}

/** The message to send, as people type it. */
function howTo({ operation, ids }: Consent): string {
  return `send the signal approve with ${JSON.stringify({ operation, ids, by: 'your name' })}`;
}
