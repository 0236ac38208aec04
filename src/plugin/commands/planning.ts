/** The commands that say what would be done, and do nothing. */
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { diffOf } from '../plan/diff.ts';
import { planOf } from '../plan/plan.ts';
import { proposalOf } from '../plan/proposal.ts';
import { diffLines, planLines } from '../views/plan-lines.ts';
import type { CommandRow } from './command.ts';
import { clusterNameOf } from './cluster-name.ts';

const OF_BOTH = [
  'FILE is taken as kubectl apply would take it. The API server checks it, if you may change the cluster, and stores nothing.',
];

const plan: CommandRow = {
  usage: 'NAME',
  words: [1, 1],
  about: 'the steps that the operator would take, also for a specification that is not applied (-f)',
  flags: ['filename'],
  more: [...OF_BOTH, 'Without -f it plans for the specification that is applied.'],
  run: async call => {
    const name = clusterNameOf(call);
    const shown = await planOf(call, await proposalOf(call, name));
    call.show({ data: shown, lines: planLines(name, shown) });
    return EXIT.done;
  },
};

const diff: CommandRow = {
  usage: 'NAME -f FILE',
  words: [1, 1],
  about: 'what a specification would change, and what each change does to the members',
  flags: ['filename'],
  more: [...OF_BOTH, 'Each change is planned alone, as if the others were not made.'],
  run: async call => {
    if (!call.flags.has('filename'))
      throw usageFailure('diff needs a specification to compare with', 'Add -f FILE');
    const name = clusterNameOf(call);
    const shown = await diffOf(call, await proposalOf(call, name));
    call.show({ data: shown, lines: diffLines(name, shown) });
    return EXIT.done;
  },
};

export const PLANNING = { plan, diff } as const;
