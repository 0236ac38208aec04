/** What completes command lines, by the name that `kubectl etcd completion` takes: all of it asks `kubectl-etcd __complete`. */

/** What kubectl runs, under the name kubectl_complete-etcd; the same as bin/kubectl_complete-etcd. */
const FOR_KUBECTL = `#!/usr/bin/env sh
# kubectl's shell completion (bash, zsh, fish) runs this for \`kubectl etcd\`, with the words that were typed.
exec kubectl-etcd __complete "$@"
`;

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

/** Works sourced, and as a file _kubectl-etcd in a folder of $fpath, which zsh runs once, at the first completion. */
const FOR_ZSH = `#compdef kubectl-etcd
# Completion of kubectl-etcd in zsh, after compinit: source <(kubectl-etcd completion zsh)
_kubectl-etcd() {
  local line directive
  local -a offered
  while IFS= read -r line; do
    case $line in
      :*) directive=$line ;;
      # _describe takes word:description.
      *) offered+=("\${\${line//:/\\\\:}/$'\\t'/:}") ;;
    esac
  done < <(kubectl-etcd __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if [[ $directive == :0 ]]; then
    _files
  elif (( \${#offered} )); then
    _describe -V kubectl-etcd offered
  fi
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then
  _kubectl-etcd "$@"
else
  compdef _kubectl-etcd kubectl-etcd
fi
`;

const FOR_FISH = `# Completion of kubectl-etcd in fish: kubectl-etcd completion fish | source
function __kubectl_etcd_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    # In quotes, so that an empty word is one, too.
    set -l offered (kubectl-etcd __complete $typed[2..-1] "$current" 2>/dev/null)
    if test "$offered[-1]" = :0
        __fish_complete_path "$current"
    else
        string match --invert --regex '^:[0-9]+$' -- $offered
    end
end
complete --command kubectl-etcd --no-files --keep-order --arguments '(__kubectl_etcd_complete)'
`;

export const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['kubectl', FOR_KUBECTL],
  ['bash', FOR_BASH],
  ['zsh', FOR_ZSH],
  ['fish', FOR_FISH],
]);
