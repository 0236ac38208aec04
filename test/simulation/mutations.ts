/**
 * Guards that are taken away, one at a time: the scenario that leads to it must break then, and hold otherwise. A guard that
 * nobody misses guards nothing.
 */
import { registerHooks } from 'node:module';
import { Declarations, readSources } from './declarations.ts';
import { locate, type Located, switchable } from './mutated-source.ts';
import type { ChanceMutation, Edit, Mutation } from './mutation.ts';
import { CHANCE_MUTATIONS } from './mutations-of-chance.ts';
import { DEATH_MUTATIONS } from './mutations-of-death.ts';
import { EVICTION_MUTATIONS } from './mutations-of-evictions.ts';
import { GENERAL_MUTATIONS } from './mutations-of-members.ts';
import { RESTORE_MUTATIONS } from './mutations-of-restores.ts';
import { UPGRADE_MUTATIONS } from './mutations-of-upgrades.ts';
import { WATCHING_MUTATIONS } from './mutations-of-watching.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...GENERAL_MUTATIONS,
  ...UPGRADE_MUTATIONS,
  ...RESTORE_MUTATIONS,
  ...DEATH_MUTATIONS,
  ...WATCHING_MUTATIONS,
  ...EVICTION_MUTATIONS,
];

/** All that can be put into effect, by number. */
export const EVERY_MUTATION: readonly (Mutation | ChanceMutation)[] = [...MUTATIONS, ...CHANCE_MUTATIONS];

/** The number of the mutation that is in effect; none when undefined. The mutated files ask for it. */
declare global {
  var mutation: number | undefined;
}

/** Has the files of all mutations loaded so that each can be put into effect. Must run before they are loaded. */
export function prepare(): void {
  const located = locateAll();
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const here = located.filter(({ source }) => url.endsWith(`/${source.path}`));
      return here[0] === undefined ? loaded : { ...loaded, source: switchable(here[0].source, here) };
    },
  });
}

/** Where the edits of all mutations belong. Throws an Error that names the mutation of an edit that belongs nowhere. */
function locateAll(): (Located & { readonly put: string; readonly isInEffect: string })[] {
  const declarations = new Declarations(readSources('src'));
  return EVERY_MUTATION.flatMap(({ what, edits }, number) =>
    edits.map(edit => ({
      ...locateOf(what, edit, declarations),
      put: edit.put,
      isInEffect: `globalThis.mutation === ${number}`,
    })),
  );
}

/** Where an edit of a mutation belongs. Throws an Error that names the mutation. */
export function locateOf(what: string, edit: Edit, declarations: Declarations): Located {
  try {
    return locate(edit, declarations);
  } catch (error) {
    throw new Error(`mutation "${what}": ${(error as Error).message}`, { cause: error });
  }
}
