/**
 * Faults that a release had and no world of its time met: worlds and observations of chance must meet them now. See
 * mutations.ts.
 */
import { findObjects } from '../../src/activities/observe/cluster-objects.ts';
import { graceOfLossMs, isTotalLoss } from '../../src/planner/checks/total-loss.ts';
import { type ChanceMutation, instead } from './mutation.ts';

export const CHANCE_MUTATIONS: readonly ChanceMutation[] = [
  {
    what: 'the loss of every volume counts at once, without the grace of a single one',
    replacements: [instead(isTotalLoss, () => observation => graceOfLossMs(observation) !== undefined)],
    seed: 17,
    within: { observations: 20_000 },
  },
  {
    what: 'a pod that keeps its data in itself is looked for by its labels alone',
    replacements: [
      instead(findObjects, original => (kube, kind, of) => original(kube, kind, { ...of, names: [] })),
    ],
    seed: 202,
    within: { steps: 300_000, isEphemeral: true },
  },
];
