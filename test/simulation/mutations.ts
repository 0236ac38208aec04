/**
 * Guards that are taken away, one at a time: the scenario that leads to it must break then, and hold otherwise. A guard that
 * nobody misses guards nothing.
 */
import type { ChanceMutation, Mutation } from './mutation.ts';
import { CHANCE_MUTATIONS } from './mutations-of-chance.ts';
import { CORRUPTION_MUTATIONS } from './mutations-of-corruption.ts';
import { DEATH_MUTATIONS } from './mutations-of-death.ts';
import { DELETION_MUTATIONS } from './mutations-of-deletion.ts';
import { EVICTION_MUTATIONS } from './mutations-of-evictions.ts';
import { GENERAL_MUTATIONS } from './mutations-of-members.ts';
import { INCARNATION_MUTATIONS } from './mutations-of-incarnations.ts';
import { RESTORE_MUTATIONS } from './mutations-of-restores.ts';
import { SECOND_STORE_MUTATIONS } from './mutations-of-second-stores.ts';
import { UPGRADE_MUTATIONS } from './mutations-of-upgrades.ts';
import { WATCHING_MUTATIONS } from './mutations-of-watching.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...GENERAL_MUTATIONS,
  ...DELETION_MUTATIONS,
  ...UPGRADE_MUTATIONS,
  ...RESTORE_MUTATIONS,
  ...DEATH_MUTATIONS,
  ...WATCHING_MUTATIONS,
  ...EVICTION_MUTATIONS,
  ...CORRUPTION_MUTATIONS,
  ...INCARNATION_MUTATIONS,
  ...SECOND_STORE_MUTATIONS,
];

/** All that can be put into effect. */
export const EVERY_MUTATION: readonly (Mutation | ChanceMutation)[] = [...MUTATIONS, ...CHANCE_MUTATIONS];
