interface Container {
  readonly name: string;
  readonly image?: string;
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

/** The container of a pod that is a member's etcd. */
export function etcdOf(pod: { readonly [field: string]: unknown }): Container | undefined {
  const { containers = [] } = (pod['spec'] ?? {}) as { containers?: readonly Container[] };
  return containers.find(({ name }) => name === 'etcd');
}

/**
 * The arguments with which a kubelet starts etcd in a pod now: `$(NAME)` stands for a variable, whose value
 * may be an annotation of the pod, and is empty when there is no such annotation.
 */
export function startArguments(pod: Pod): string[] {
  const { args = [], env = [] } = etcdOf(pod) ?? {};
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
