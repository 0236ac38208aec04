/** Commands as they are shown to users, who paste them into a shell. Pure. */

/** How the plugin itself was led to the API server: the shown command leads there, too. */
export interface Where {
  readonly namespace: string;
  readonly context?: string | undefined;
  readonly kubeconfig?: string | undefined;
}

/** One word of a shell's command line. */
export function quoted(word: string): string {
  return /^[\w.:/@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The flags that lead kubectl where the plugin was led. */
export const reach = ({ namespace, context, kubeconfig }: Where): readonly string[] => [
  '-n',
  namespace,
  ...(context === undefined ? [] : ['--context', context]),
  ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
];

/** A command of this plugin. */
export function pluginLine(where: Where, ...words: readonly string[]): string {
  return ['kubectl', 'etcd', ...words, ...reach(where)].map(quoted).join(' ');
}

/** A command of kubectl. */
export function kubectlLine(where: Where, ...words: readonly string[]): string {
  return ['kubectl', ...words, ...reach(where)].map(quoted).join(' ');
}
