/**
 * Faults that a release had and no world of its time met: worlds and observations of chance must meet them now. See
 * mutations.ts.
 */
import { at, type ChanceMutation } from './mutation.ts';

export const CHANCE_MUTATIONS: readonly ChanceMutation[] = [
  {
    what: 'the loss of every volume counts at once, without the grace of a single one',
    edits: [
      at('isTotalLoss', 'graceOfLossMs(observation) === 0', 'graceOfLossMs(observation) !== undefined'),
    ],
    seed: 1,
    within: { observations: 20_000 },
  },
  {
    what: 'a pod that keeps its data in itself is looked for by its labels alone',
    edits: [at('findObjects', '[...new Set(names)]', '[]')],
    seed: 200,
    within: { steps: 300_000, isEphemeral: true },
  },
];
