/** How many members may be evicted at a time. Pure. */
import { withDefaults } from '../api/defaults/etcd-cluster.ts';
import { clusterLabels, clusterSelector, disruptionBudgetName } from '../api/names.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { type ManifestObject, ownerReference } from './manifest.ts';
import { stamped } from './rendered.ts';

/**
 * A PodDisruptionBudget that names the number of pods that must stay. An integer, since for `maxUnavailable` and for percentages the
 * disruption controller asks the EtcdCluster how many pods there should be (Kubernetes documentation, "Specifying a Disruption
 * Budget for your Application", arbitrary workloads): that is what somebody wished, and not who votes, and the controller may not
 * know the kind yet. A member that is missing or not ready uses the budget up, so a node drain waits for it.
 * @param minAvailable as {@link minAvailableOf} says
 */
export function disruptionBudget(cluster: EtcdCluster, minAvailable: number): ManifestObject {
  const { name, namespace } = cluster.metadata;
  return stamped({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name: disruptionBudgetName(name),
      namespace,
      labels: clusterLabels(name),
      ownerReferences: [ownerReference(cluster)],
    },
    spec: { minAvailable, selector: { matchLabels: clusterSelector(name) } },
  });
}

/** The budget of a cluster that has its first member back from a backup. */
export function seedBudget(cluster: EtcdCluster): ManifestObject {
  const wanted = withDefaults(cluster.spec).size;
  return disruptionBudget(cluster, minAvailableOf({ voters: 1, learners: 0, wanted }));
}

/** The members of a cluster, as far as evictions are concerned. */
export interface EvictableMembers {
  /** Members that vote. */
  readonly voters: number;
  /** Learners: their pods match the selector, and they never stand in for a voter. */
  readonly learners: number;
  /** How many members the specification asks for. */
  readonly wanted: number;
}

/**
 * How many pods must stay so that an eviction costs no quorum: all of them but one voter where three or more vote. Of two voters both
 * are the quorum, and of one that one: while the cluster is on its way to another size, or a member is replaced, none of them may go. A cluster that
 * is meant to have one or two members has no redundancy: there one may be evicted at a time, or a node could never be drained.
 */
export function minAvailableOf({ voters, learners, wanted }: EvictableMembers): number {
  const isMeantSo = voters === wanted && learners === 0;
  return voters + learners - (voters >= 3 || isMeantSo ? 1 : 0);
}
