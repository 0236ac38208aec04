/** What a mutation is: see mutations.ts. */
import type { AnyFunction, Replacement } from './replaceable.ts';
import type { ScenarioName } from './scenarios.ts';

export interface Mutation {
  readonly what: string;
  /** What leads a world to where the guard matters. */
  readonly scenario: ScenarioName;
  /** More than one where one guard stands behind the other. */
  readonly replacements: readonly Replacement[];
}

/**
 * A guard without which worlds or observations made by chance must come to harm, with nobody leading them there: within so many
 * steps of worlds from a seed on, or so many observations of a seed.
 */
export interface ChanceMutation {
  readonly what: string;
  readonly replacements: readonly Replacement[];
  readonly seed: number;
  readonly within:
    | { readonly steps: number; readonly isEphemeral?: boolean }
    | { readonly observations: number };
}

/** A function that always returns this. */
export function returns<F extends AnyFunction>(guard: F, value: Awaited<ReturnType<F>>): Replacement {
  return { guard, by: () => () => value };
}

/** A function that does something else, for example what it does for other arguments. */
export function instead<F extends AnyFunction>(
  guard: F,
  by: (original: NoInfer<F>) => NoInfer<F>,
): Replacement {
  return { guard, by };
}

/** A guard that is taken away. */
export const without = (
  what: string,
  scenario: ScenarioName,
  ...replacements: readonly Replacement[]
): Mutation => ({ what, scenario, replacements });
