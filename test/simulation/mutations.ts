/**
 * Guards that are taken away, one at a time: the scene that leads to it must break then, and hold otherwise. A guard that
 * nobody misses guards nothing.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { ChanceMutation, Mutation } from './mutation.ts';
import { CHANCE_MUTATIONS } from './mutations-of-chance.ts';
import { DEATH_MUTATIONS } from './mutations-of-death.ts';
import { GENERAL_MUTATIONS } from './mutations-of-members.ts';
import { RESTORE_MUTATIONS } from './mutations-of-restores.ts';
import { UPGRADE_MUTATIONS } from './mutations-of-upgrades.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...GENERAL_MUTATIONS,
  ...UPGRADE_MUTATIONS,
  ...RESTORE_MUTATIONS,
  ...DEATH_MUTATIONS,
];

/** All that can be put into effect, by number. */
export const EVERY_MUTATION: readonly (Mutation | ChanceMutation)[] = [...MUTATIONS, ...CHANCE_MUTATIONS];

/** The number of the mutation that is in effect; none when undefined. The mutated files ask for it. */
declare global {
  var mutation: number | undefined;
}

/** Has the files of all mutations loaded so that each can be put into effect. Must run before they are loaded. */
export function prepare(): void {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!EVERY_MUTATION.some(({ edits }) => edits.some(({ file }) => url.endsWith(`/${file}`))))
        return loaded;
      return { ...loaded, source: switchable(url, readFileSync(fileURLToPath(url), 'utf8')) };
    },
  });
}

/** The source, in which each expression asks first whether another one takes its place. */
function switchable(url: string, source: string): string {
  const edits = EVERY_MUTATION.flatMap(({ edits: each }, number) => each.map(edit => ({ ...edit, number })));
  const here = Map.groupBy(
    edits.filter(({ file }) => url.endsWith(`/${file}`)),
    ({ find }) => find,
  );
  let mutated = source;
  for (const [find, instead] of here) {
    const expression = instead.reduce(
      (otherwise, { number, put }) => `(globalThis.mutation === ${number} ? (${put}) : ${otherwise})`,
      `(${find})`,
    );
    mutated = mutated.replace(find, () => expression);
  }
  return mutated;
}
