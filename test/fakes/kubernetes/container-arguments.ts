interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
  }[];
}

interface Pod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/**
 * The arguments with which a kubelet starts the first container of a pod now: `$(NAME)` stands for a variable, whose value
 * may be an annotation of the pod, and is empty when there is no such annotation.
 */
export function startArguments(pod: Pod): string[] {
  const { containers = [] } = pod['spec'] as { containers?: readonly Container[] };
  const { args = [], env = [] } = containers[0] ?? {};
  return args.map(argument =>
    argument.replaceAll(/\$\((\w+)\)/g, (literal, name: string) => {
      const variable = env.find(candidate => candidate.name === name);
      if (variable === undefined) return literal;
      const key = /^metadata\.annotations\['(.*)'\]$/.exec(
        variable.valueFrom?.fieldRef?.fieldPath ?? '',
      )?.[1];
      return key === undefined ? (variable.value ?? '') : (pod.metadata.annotations?.[key] ?? '');
    }),
  );
}
