/** The one slot of an entity: what it does with an operation that it has started, or that another run began. */
import type { Draft } from './draft.ts';
import type { EntityEvent, Kind } from './entity.ts';
import { goOn } from './looks.ts';
import { backoffMs } from '../../api/values/backoff.ts';

/** An operation that another run began is asked after this often; it also tells when it ends. */
const ASK_AFTER_MS = 60_000;

export function started<K extends Kind>(draft: Draft<K>): void {
  const { people, running, isUntold } = draft.state;
  if (running === undefined) return;
  draft.set({ phase: 'operating', people: draft.rules.began(people, running) });
  // What was asked for while it was being started may not have found it.
  if (isUntold) draft.tell(draft.rules.control(draft.state.people));
}

export function slotTaken<K extends Kind>(draft: Draft<K>): void {
  const { ending } = draft.state;
  if (ending === undefined) follow(draft);
  else conclude(draft, ending);
}

/** Waits for an operation that another run began. */
export function follow<K extends Kind>(draft: Draft<K>): void {
  draft.set({ phase: 'following', wakeAt: undefined });
  if (draft.rules.asksBy === 'telling') draft.tell(draft.rules.control(draft.state.people));
  else draft.set({ wakeAt: draft.facts.now + ASK_AFTER_MS });
}

/** It is time to ask whether it is still there. */
export function askAfter<K extends Kind>(draft: Draft<K>): void {
  if (draft.rules.asksBy === 'telling') draft.tell(draft.rules.control(draft.state.people));
  else leave(draft);
}

export function told<K extends Kind>(draft: Draft<K>, arrived: boolean): void {
  const { tells, phase } = draft.state;
  draft.set({ tells: tells - 1 });
  if (phase !== 'following' || draft.rules.asksBy !== 'telling') return;
  if (arrived) draft.set({ wakeAt: draft.facts.now + ASK_AFTER_MS });
  else leave(draft);
}

/** Nobody is in the slot any more, and nothing is known of how that came. */
function leave<K extends Kind>(draft: Draft<K>): void {
  draft.set({ running: undefined, ending: undefined });
  settle(draft);
}

export function reported<K extends Kind>(
  draft: Draft<K>,
  { ending, assessment }: Extract<EntityEvent<K>, { kind: 'reported' }>,
): void {
  if (assessment !== undefined) draft.show(assessment);
  if (ending === undefined) return;
  if (draft.state.phase === 'following') conclude(draft, ending);
  else draft.set({ ending });
}

export function ended<K extends Kind>(
  draft: Draft<K>,
  { ending, assessment }: Extract<EntityEvent<K>, { kind: 'ended' }>,
): void {
  if (assessment !== undefined) draft.show(assessment);
  const isGone = assessment !== undefined && draft.rules.next(draft.state, draft.facts.now).kind === 'gone';
  conclude(draft, ending, isGone);
}

function conclude<K extends Kind>(draft: Draft<K>, ending: K['Ending'], isGone = false): void {
  const { rules, facts, state } = draft;
  const hasFailed = rules.isFailure(ending);
  const failures = hasFailed ? state.failures + 1 : 0;
  const retryAt = facts.now + backoffMs(rules.backoff, failures);
  const people = rules.conclude(state, ending, retryAt);
  draft.set({ people, running: undefined, ending: undefined, failures });
  draft.set({ retryAt: hasFailed ? retryAt : undefined });
  if (isGone) draft.set({ phase: 'closing', wakeAt: undefined });
  else settle(draft);
}

/** The slot is free: the world is looked at, once a look that is under way has ended. */
function settle<K extends Kind>(draft: Draft<K>): void {
  if (draft.state.isLooking) draft.set({ phase: 'looking', isStale: true, wakeAt: undefined });
  else goOn(draft);
}
