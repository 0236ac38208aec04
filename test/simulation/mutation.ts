/** What a mutation is: see mutations.ts. */
import type { SceneName } from './scenes.ts';

export interface Edit {
  readonly file: string;
  /** An expression that occurs exactly once in the file. */
  readonly find: string;
  /** The expression that takes its place: as JavaScript, for types are not looked at any more. */
  readonly put: string;
}

export interface Mutation {
  readonly what: string;
  /** What leads a world to where the guard matters. */
  readonly scene: SceneName;
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

/** An expression of a file, and what takes its place. */
export const at = (file: string, find: string, put: string): Edit => ({ file: `src/${file}`, find, put });
/** A guard that is taken away. */
export const without = (what: string, scene: SceneName, ...edits: readonly Edit[]): Mutation => ({
  what,
  scene,
  edits,
});
