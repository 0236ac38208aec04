/** What a mutation is: see mutations.ts. */
import type { ScenarioName } from './scenarios.ts';

export interface Edit {
  /** A function or constant of src/, e.g. `plan`, `Queue.add`; `gates/behind` where files have others of that name (declarations.ts). */
  readonly in: string;
  /** An expression that the function has exactly once, however it is formatted. Absent: all that the function does. */
  readonly find?: string;
  /** The expression that takes its place or that the function returns: as JavaScript, for types are not looked at any more. */
  readonly put: string;
}

export interface Mutation {
  readonly what: string;
  /** What leads a world to where the guard matters. */
  readonly scenario: ScenarioName;
  /** More than one where one guard stands behind the other. */
  readonly edits: readonly Edit[];
}

/**
 * A guard without which worlds or observations made by chance must come to harm, with nobody leading them there: within so many
 * steps of worlds from a seed on, or so many observations of a seed.
 */
export interface ChanceMutation {
  readonly what: string;
  readonly edits: readonly Edit[];
  readonly seed: number;
  readonly within:
    | { readonly steps: number; readonly isEphemeral?: boolean }
    | { readonly observations: number };
}

/** An expression of a function, and what takes its place. */
export const at = (name: string, find: string, put: string): Edit => ({ in: name, find, put });
/** A function, and what it returns at once. */
export const returns = (name: string, put: string): Edit => ({ in: name, put });
/** A guard that is taken away. */
export const without = (what: string, scenario: ScenarioName, ...edits: readonly Edit[]): Mutation => ({
  what,
  scenario,
  edits,
});
