/** The commands that are about the plugin itself: they need no API server and no kubeconfig. */
import manifest from '../../../package.json' with { type: 'json' };
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import type { AloneRow } from './command.ts';
import { SCRIPTS } from './completion-scripts.ts';

const version: AloneRow = {
  usage: '',
  words: [0, 0],
  about: 'the version of the plugin',
  flags: [],
  runAlone: ({ show }) => {
    const data = { version: manifest.version, node: process.versions.node };
    show({ data, lines: [[`kubectl-etcd ${data.version}, with Node ${data.node}`]] });
    return EXIT.done;
  },
};

const completion: AloneRow = {
  usage: 'kubectl|bash|zsh|fish',
  words: [1, 1],
  about: 'write what completes command lines: the file that kubectl runs, or a script for a shell',
  flags: [],
  more: [
    'kubectl completes kubectl etcd if the first one is a program kubectl_complete-etcd on PATH; the shells complete kubectl-etcd with the others.',
  ],
  noOutput: 'it writes a script',
  runAlone: ({ words: [name = ''], io }) => {
    const script = SCRIPTS.get(name);
    if (script === undefined)
      throw usageFailure(`completion is for ${[...SCRIPTS.keys()].join(' or ')}, and not for ${name}`);
    io.out(script);
    return EXIT.done;
  },
};

export const ALONE = { version, completion } as const;
