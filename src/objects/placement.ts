/** Where members may run, relative to each other and to failing nodes. Pure. */
import type { ClusterConfig } from '../api/defaults/etcd-cluster.ts';
import { clusterSelector } from '../api/names.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

type Placement = Readonly<Record<string, unknown>>;

/**
 * The scheduling fields of a member's pod. A user's `affinity` stands alone, as the CoreOS operator had it.
 * Without one members prefer different nodes, and zones less strongly; `antiAffinity` makes different nodes a must; a
 * Development cluster may sit on one node.
 */
export function placement(cluster: string, config: Pick<ClusterConfig, 'pod' | 'profile'>): Placement {
  const { pod } = config;
  const affinity = pod.affinity ?? ownAffinity(cluster, config);
  return {
    ...(affinity === undefined ? {} : { affinity }),
    ...optionalField('nodeSelector', pod.nodeSelector),
    tolerations: [...NODE_FAILURE_TOLERATIONS, ...(pod.tolerations ?? [])],
    ...optionalField('topologySpreadConstraints', pod.topologySpreadConstraints),
    ...optionalField('priorityClassName', pod.priorityClassName),
  };
}

/**
 * The scheduling fields of a pod that only works for a cluster: on nodes that members may use, and rather not beside one. It
 * has no claim on a node of its own, does not outlast its node, and pushes nobody away.
 */
export function placementBeside(cluster: string, { pod }: Pick<ClusterConfig, 'pod'>): Placement {
  const podAffinityTerm = { labelSelector: { matchLabels: clusterSelector(cluster) }, topologyKey: HOSTNAME };
  const { nodeAffinity } = (pod.affinity ?? {}) as { readonly nodeAffinity?: unknown };
  return {
    affinity: {
      ...optionalField('nodeAffinity', nodeAffinity),
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }],
      },
    },
    ...optionalField('nodeSelector', pod.nodeSelector),
    ...optionalField('tolerations', pod.tolerations),
  };
}

/**
 * A member stays bound to its node however long that node is away. Evicting it helps nobody (its id cannot run elsewhere
 * until the old pod is proved gone), and evicting several members that were only cut off takes a healed cluster
 * below quorum (tectonic-installer issue 798).
 */
const NODE_FAILURE_TOLERATIONS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map(
  key => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
  }),
);

function ownAffinity(cluster: string, config: Pick<ClusterConfig, 'pod' | 'profile'>): Placement | undefined {
  const term = (topologyKey: string) => ({
    labelSelector: { matchLabels: clusterSelector(cluster) },
    topologyKey,
  });
  if (config.pod.antiAffinity === true) {
    return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(HOSTNAME)] } };
  }
  if (config.profile === 'Development') return undefined;
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: term(HOSTNAME) },
        { weight: 50, podAffinityTerm: term(ZONE) },
      ],
    },
  };
}

/** `{key: value}`, or nothing for what old clients write when they mean nothing. */
export function optionalField(key: string, value: unknown): Placement {
  if (value === undefined || value === null || value === '') return {};
  return typeof value === 'object' && Object.keys(value).length === 0 ? {} : { [key]: value };
}
