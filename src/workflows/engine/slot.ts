/** The one slot of an entity: operations that it has started, or that another run has started. */
import type { Draft } from './draft.ts';
import type { EntityEvent, Kind } from './entity.ts';
import { decide, nextLook } from './looks.ts';
import { over, TRIES } from './repeats.ts';
import { backoffMs } from '../../api/values/backoff.ts';

/** How often to check that an operation which another run started still exists; it also reports its end. */
const CHECK_INTERVAL_MS = 60_000;

export function started<K extends Kind>(draft: Draft<K>): void {
  const { rules, state } = draft;
  const { people, running } = state;
  if (running === undefined) return;
  draft.set({ phase: 'operating', people: rules.onStarted?.(people, running) ?? people });
  // It may have been started without what was asked for meanwhile.
  if (state.isControlStale) signalControl(draft);
}

export function slotTaken<K extends Kind>(draft: Draft<K>): void {
  const { ending } = draft.state;
  if (ending === undefined) follow(draft);
  else conclude(draft, ending);
}

/** Waits for an operation that another run started. */
export function follow<K extends Kind>(draft: Draft<K>): void {
  draft.set({ phase: 'following', wakeAt: undefined });
  if (draft.rules.checksBy === 'signal') signalControl(draft);
  else draft.set({ wakeAt: draft.facts.now + CHECK_INTERVAL_MS });
}

/** Checks that the operation still exists. */
export function checkOperation<K extends Kind>(draft: Draft<K>): void {
  if (draft.rules.checksBy === 'signal') signalControl(draft);
  else operationGone(draft);
}

function signalControl<K extends Kind>(draft: Draft<K>): void {
  draft.signal(draft.rules.control?.(draft.state.people));
}

export function signalled<K extends Kind>(draft: Draft<K>, delivered: boolean): void {
  const { pendingSignals, phase } = draft.state;
  draft.set({ pendingSignals: pendingSignals - 1 });
  if (phase !== 'following' || draft.rules.checksBy !== 'signal') return;
  if (delivered) draft.set({ wakeAt: draft.facts.now + CHECK_INTERVAL_MS });
  else operationGone(draft);
}

/** The operation does not exist any more, and its result is not known. */
function operationGone<K extends Kind>(draft: Draft<K>): void {
  draft.set({ running: undefined, ending: undefined });
  lookAgain(draft);
}

export function reported<K extends Kind>(
  draft: Draft<K>,
  { ending, assessment }: Extract<EntityEvent<K>, { kind: 'reported' }>,
): void {
  if (assessment !== undefined) draft.takePass(assessment);
  if (ending === undefined) return;
  if (draft.state.phase === 'following') conclude(draft, ending);
  else draft.set({ ending });
}

export function ended<K extends Kind>(
  draft: Draft<K>,
  { ending, assessment }: Extract<EntityEvent<K>, { kind: 'ended' }>,
): void {
  if (assessment !== undefined) draft.takePass(assessment);
  const isGone = assessment !== undefined && draft.rules.next(draft.state, draft.facts.now).kind === 'gone';
  conclude(draft, ending, isGone ? 'gone' : assessment && 'there');
}

/** @param seen what the operation saw of its resource when it looked after its last step; undefined: it has not looked */
function conclude<K extends Kind>(draft: Draft<K>, handed: K['Ending'], seen?: 'gone' | 'there'): void {
  const { rules, facts, state } = draft;
  const failure = rules.undone?.(handed);
  const repeats = over(state.repeats, failure !== undefined, facts.now);
  const ending = failure !== undefined && (repeats?.undone ?? 0) >= TRIES ? failure : handed;
  const hasFailed = rules.isFailure(ending);
  const failures = hasFailed ? state.failures + 1 : 0;
  const retryAt = facts.now + backoffMs(rules.backoff, failures);
  const people = rules.onEnded(state, ending, retryAt);
  draft.set({
    people,
    running: undefined,
    ending: undefined,
    failures,
    retryAt: hasFailed ? retryAt : undefined,
    // After a failure it is counted anew.
    repeats: hasFailed ? over(state.repeats, false, facts.now) : repeats,
  });
  if (seen === 'gone') draft.set({ phase: 'closing', wakeAt: undefined });
  // What has to be done again was seen a moment ago.
  else if (failure !== undefined && seen !== undefined && !hasFailed) goOn(draft);
  else lookAgain(draft);
}

/** The slot is free: what the operation saw at its end is what is there, unless something changed meanwhile. */
function goOn<K extends Kind>(draft: Draft<K>): void {
  const { dirty, isLooking } = draft.state;
  if (dirty || isLooking || !draft.facts.mayPace()) lookAgain(draft);
  else decide(draft);
}

/** The slot is free: a new pass follows, after a running one has ended. */
function lookAgain<K extends Kind>(draft: Draft<K>): void {
  if (draft.state.isLooking) draft.set({ phase: 'looking', isStale: true, wakeAt: undefined });
  else nextLook(draft);
}
