/** How many members may be evicted at a time. Pure. */
import { withDefaults } from '../api/defaults/etcd-cluster.ts';
import { clusterLabels, clusterSelector, disruptionBudgetName } from '../api/names.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { type ManifestObject, ownerReference } from './manifest.ts';
import { stamped } from './rendered.ts';

/**
 * A PodDisruptionBudget of one member. `maxUnavailable` is allowed for bare pods here because their controller
 * reference leads the disruption controller to the scale subresource of the EtcdCluster, which says how many pods there
 * should be (Kubernetes documentation, "Specifying a Disruption Budget", arbitrary workloads). A member that is missing or
 * not ready uses the budget up, so a node drain waits for it. A resource that does not say its size has no scale
 * subresource that could be read: then the budget names the number of members itself.
 */
export function disruptionBudget(cluster: EtcdCluster): ManifestObject {
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
    spec: { ...membersThatMayGo(cluster), selector: { matchLabels: clusterSelector(name) } },
  });
}

function membersThatMayGo({ written, spec }: EtcdCluster): Readonly<Record<string, number>> {
  const isWritten = ((written ?? spec).size ?? 0) > 0;
  return isWritten ? { maxUnavailable: 1 } : { minAvailable: withDefaults(spec).size - 1 };
}
