/** The commands that are about the plugin itself: they need no API server and no kubeconfig. */
import manifest from '../../../package.json' with { type: 'json' };
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import type { AloneRow } from './command.ts';

/** What kubectl runs, under the name kubectl_complete-etcd; the same as bin/kubectl_complete-etcd. */
const FOR_KUBECTL = `#!/usr/bin/env sh
# kubectl's shell completion (bash, zsh, fish) runs this for \`kubectl etcd\`, with the words that were typed.
exec kubectl-etcd __complete "$@"
`;

/** For the name kubectl-etcd itself. */
const FOR_BASH = `# Completion of kubectl-etcd in bash: source <(kubectl-etcd completion bash)
_kubectl_etcd() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == :* ]] || COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(kubectl-etcd __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _kubectl_etcd kubectl-etcd
`;

const SCRIPTS = new Map([
  ['kubectl', FOR_KUBECTL],
  ['bash', FOR_BASH],
]);

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
  usage: 'kubectl|bash',
  words: [1, 1],
  about: 'write what completes command lines: the file that kubectl runs, or a script for bash',
  flags: [],
  more: [
    'kubectl completes kubectl etcd if the first one is a program kubectl_complete-etcd on PATH; bash completes kubectl-etcd with the second.',
  ],
  runAlone: ({ words: [name = ''], io }) => {
    const script = SCRIPTS.get(name);
    if (script === undefined)
      throw usageFailure(`completion is for ${[...SCRIPTS.keys()].join(' or ')}, and not for ${name}`);
    io.out(script);
    return EXIT.done;
  },
};

export const ALONE = { version, completion } as const;
