/** Guards of what proves that a member is lost, taken away: see mutations.ts. */
import { at, type Mutation, without } from './mutation.ts';

export const DEATH_MUTATIONS: readonly Mutation[] = [
  without(
    'a volume whose Node has other labels by now counts as lost',
    'nodeIsRelabelled',
    at('planner/node-affinity.ts', 'there.length > 0', 'false'),
  ),
];
