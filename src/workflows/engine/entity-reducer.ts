/** How an entity goes from one state to the next. See machine.ts for the phases, entity.ts for the types. */
import { Draft } from './draft.ts';
import { mayContinueAsNew, mayClose, mayLook } from './due.ts';
import type { Entity, EntityEffect, EntityEvent, Kind, Rules } from './entity.ts';
import { continueAsNew, look, looked } from './looks.ts';
import type { Facts, Transition } from './machine.ts';
import { checkOperation, ended, follow, reported, signalled, slotTaken, started } from './slot.ts';

/** How an entity of a kind handles an event. */
export type EntityReducer<K extends Kind> = (
  state: Entity<K>,
  event: EntityEvent<K>,
  facts: Facts,
) => Transition<Entity<K>, EntityEffect<K>>;

export function entityReducer<K extends Kind>(rules: Rules<K>): EntityReducer<K> {
  return (state, event, facts) => {
    const draft = new Draft(rules, state, facts);
    if (state.phase !== 'closed') take(draft, event);
    return draft.result;
  };
}

function take<K extends Kind>(draft: Draft<K>, event: EntityEvent<K>): void {
  const { rules, facts, state } = draft;
  switch (event.kind) {
    case 'begin':
      return state.running === undefined ? look(draft) : follow(draft);
    case 'turn':
      return turn(draft);
    case 'timer':
      return timer(draft);
    case 'changed':
      return draft.set({ dirty: true });
    case 'looked':
      return looked(draft, event.assessment);
    case 'started':
      return started(draft);
    case 'slotTaken':
      return slotTaken(draft);
    case 'ended':
      return ended(draft, event);
    case 'reported':
      return reported(draft, event);
    case 'message':
      return draft.apply(rules.onMessage(state, event.message, facts.now));
    case 'signalled':
      return signalled(draft, event.delivered);
    case 'cancelled':
      draft.set({ cancelled: true });
      return rules.onCancel && draft.apply(rules.onCancel(draft.state));
  }
}

/** Everything that came at this moment is in. */
function turn<K extends Kind>(draft: Draft<K>): void {
  const { rules, facts, state } = draft;
  if (state.phase === 'closing' && mayClose(state, facts)) {
    draft.set({ phase: 'closed' });
    draft.effect({ kind: 'end' });
  } else if (mayContinueAsNew(state, facts)) continueAsNew(draft);
  else if (mayLook(rules, state)) {
    // Something changed: what failed may succeed now.
    if (state.phase === 'resting') draft.set({ retryAt: undefined });
    look(draft);
  }
}

function timer<K extends Kind>(draft: Draft<K>): void {
  const { phase } = draft.state;
  draft.set({ wakeAt: undefined });
  if (phase === 'resting') draft.set({ dirty: true });
  if (phase === 'following') checkOperation(draft);
}
