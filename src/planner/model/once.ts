/** Facts that several ask of one situation. Pure. */
import type { Situation } from './situation.ts';

/** The same function of a situation, which works it out once for each: nobody changes a situation, and one with other requests is another record. */
export function once<Fact>(workOut: (situation: Situation) => Fact): (situation: Situation) => Fact {
  const known = new WeakMap<Situation, { readonly fact: Fact }>();
  return situation => {
    const found = known.get(situation) ?? { fact: workOut(situation) };
    known.set(situation, found);
    return found.fact;
  };
}
