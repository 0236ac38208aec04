/** What an entity may do at a moment. */
import type { Entity, Kind, Rules } from './entity.ts';
import type { Facts } from './machine.ts';

/** Whether something is due at this moment, with everything that came in: the event `turn` has it done. */
export function isDue<K extends Kind>(rules: Rules<K>, state: Entity<K>, facts: Facts): boolean {
  if (state.phase === 'closing') return mayClose(state, facts);
  return givesWay(state, facts) || mayLook(rules, state);
}

/** Whether a run should give way to the next one, and can: nobody waits for an answer, and nothing is on its way. */
export function givesWay<K extends Kind>(state: Entity<K>, facts: Facts): boolean {
  const { phase, isLooking, tells, ending, cancelled } = state;
  if (!facts.handlersFinished || tells > 0 || isLooking) return false;
  if (phase === 'resting') return facts.history !== 'short' || cancelled;
  const goesOnWithout = phase === 'operating' || phase === 'following';
  return goesOnWithout && facts.history === 'veryLong' && ending === undefined;
}

export function mayClose<K extends Kind>({ tells }: Entity<K>, { handlersFinished }: Facts): boolean {
  return tells === 0 && handlersFinished;
}

export function mayLook<K extends Kind>(rules: Rules<K>, { phase, dirty, isLooking }: Entity<K>): boolean {
  if (!dirty || isLooking) return false;
  return phase === 'resting' || (rules.looksBeside && isBeside(phase));
}

/** An operation is under way that the entity does not carry out itself. */
export function isBeside(phase: Entity<Kind>['phase']): boolean {
  return phase === 'operating' || phase === 'following';
}
