/** The passes of an entity, and what follows from their decisions. */
import type { Draft } from './draft.ts';
import { mayContinueAsNew, isOperating } from './due.ts';
import type { Kind } from './entity.ts';
import { over, pacedUntil, pausedUntil, repeatsAtOnce, repeated } from './repeats.ts';

/** Starts a pass; a running operation goes on. */
export function look<K extends Kind>(draft: Draft<K>): void {
  const { rules, facts } = draft;
  const { phase, people, wakeAt, failures, repeats } = draft.state;
  const prepared = rules.forgetExpired?.(people, facts.now) ?? people;
  const beside = isOperating(phase);
  // What has failed is tried again by an operation, whose success ends the back-off.
  const isLeft = beside || failures > 0;
  const may = repeatsAtOnce(repeats, facts.now) ? 'all' : 'withoutRepeats';
  draft.effect({ kind: 'look', actor: rules.actor(prepared, isLeft ? 'nothing' : may) });
  draft.set({
    people: rules.onLook?.(prepared) ?? prepared,
    phase: beside ? phase : 'looking',
    wakeAt: beside ? wakeAt : undefined,
    dirty: false,
    isLooking: true,
    lookedAt: facts.now,
  });
}

/** Looks again, or continues as new. */
export function nextLook<K extends Kind>(draft: Draft<K>): void {
  draft.set({ phase: 'resting', wakeAt: undefined });
  if (mayContinueAsNew(draft.state, draft.facts)) continueAsNew(draft);
  else look(draft);
}

export function looked<K extends Kind>(draft: Draft<K>, assessment: K['Assessment']): void {
  draft.set({ isLooking: false });
  noteRepair(draft, assessment);
  draft.takePass(assessment);
  if (isOperating(draft.state.phase)) return;
  if (!draft.state.isStale) return decide(draft);
  draft.set({ isStale: false });
  nextLook(draft);
}

/** What a pass has repaired counts as what an operation has: whether it was undone at once is seen by the same pass. */
function noteRepair<K extends Kind>(draft: Draft<K>, assessment: K['Assessment']): void {
  const { rules, facts, state } = draft;
  const of = rules.repaired?.(assessment);
  if (of === undefined) return;
  const next = rules.next({ ...state, assessment }, facts.now);
  const isUndone = next.kind === 'operate' && rules.repeats?.(next.decision, assessment) === of;
  draft.set({ repeats: over(repeated(state.repeats, of, state.lookedAt), isUndone, facts.now) });
}

/** Does what the last pass decided, or waits. */
export function decide<K extends Kind>(draft: Draft<K>): void {
  const { rules, facts, state } = draft;
  const { retryAt } = state;
  const next = rules.next(state, facts.now);
  if (next.kind === 'gone') return draft.set({ phase: 'closing' });
  if (next.kind === 'rest') return rest(draft, next.until);
  const { decision, running } = next;
  const isHeld = retryAt !== undefined && facts.now < retryAt && rules.isHeldBack?.(state.people, decision);
  if (isHeld) return rest(draft, retryAt);
  const of = rules.repeats?.(decision, state.assessment);
  if (of !== undefined) {
    const until = waitsUntil(draft, of);
    if (until !== undefined) return rest(draft, until);
    draft.set({ repeats: repeated(state.repeats, of, facts.now) });
  }
  draft.set({ running, ending: undefined });
  if (rules.slot === 'here') {
    draft.set({ phase: 'performing' });
    return draft.effect({ kind: 'perform', decision });
  }
  draft.set({ phase: 'starting', isControlStale: false });
  draft.effect({ kind: 'start', decision, signal: rules.control?.(state.people) });
}

/** Until when what may be done again and again waits; undefined: it does not. */
function waitsUntil<K extends Kind>({ state, facts }: Draft<K>, of: string): number | undefined {
  const paused = pausedUntil(state.repeats, of, facts.now);
  const paced = pacedUntil(state.repeats, facts.now);
  const until = Math.max(
    paused !== undefined && facts.mayPause() ? paused : facts.now,
    paced !== undefined && facts.mayPace() ? paced : facts.now,
  );
  return until > facts.now ? until : undefined;
}

function rest<K extends Kind>(draft: Draft<K>, until: number | undefined): void {
  draft.set({ phase: 'resting', wakeAt: until });
  if (mayContinueAsNew(draft.state, draft.facts)) continueAsNew(draft);
}

export function continueAsNew<K extends Kind>(draft: Draft<K>): void {
  const { people, running, assessment, failures, retryAt, repeats } = draft.state;
  // A run that has nothing to wait for begins with a pass; one that follows an operation answers queries meanwhile.
  const carried = {
    people,
    failures,
    ...(running !== undefined && { running }),
    ...(running !== undefined && assessment !== undefined && { assessment }),
    ...(retryAt !== undefined && { retryAt }),
    ...(repeats !== undefined && { repeats }),
  };
  draft.set({ phase: 'closed', wakeAt: undefined });
  draft.effect({ kind: 'continueAsNew', carried });
}
