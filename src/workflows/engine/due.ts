/** What an entity may do at a moment. */
import type { Entity, Kind, Rules } from './entity.ts';
import type { Facts } from './machine.ts';

/** Whether something is due at this moment, with everything that came in: the event `turn` has it done. */
export function isDue<K extends Kind>(rules: Rules<K>, state: Entity<K>, facts: Facts): boolean {
  if (state.phase === 'closing') return mayClose(state, facts);
  return mayContinueAsNew(state, facts) || mayLook(rules, state);
}

/** Whether a run should continue as new, and can: no handler is running, and no activity and no signal is pending. */
export function mayContinueAsNew<K extends Kind>(state: Entity<K>, facts: Facts): boolean {
  const { phase, isLooking, pendingSignals, ending, cancelled } = state;
  if (!facts.handlersFinished || pendingSignals > 0 || isLooking) return false;
  if (phase === 'resting') return facts.history !== 'short' || cancelled;
  return isOperating(phase) && facts.history === 'veryLong' && ending === undefined;
}

export function mayClose<K extends Kind>(
  { pendingSignals }: Entity<K>,
  { handlersFinished }: Facts,
): boolean {
  return pendingSignals === 0 && handlersFinished;
}

export function mayLook<K extends Kind>(rules: Rules<K>, { phase, dirty, isLooking }: Entity<K>): boolean {
  if (!dirty || isLooking) return false;
  return phase === 'resting' || (rules.looksWhileOperating === true && isOperating(phase));
}

/** An operation is under way that the entity does not carry out itself. */
export function isOperating(phase: Entity<Kind>['phase']): boolean {
  return phase === 'operating' || phase === 'following';
}
