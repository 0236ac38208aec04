/** Where pods that help a cluster may run. */
import { type ClusterConfig, withDefaults } from '../../api/defaults/etcd-cluster.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { PodPlace } from '../../objects/claim-store.ts';
import { placement, placementBeside } from '../../objects/placement.ts';
import { POD_SECURITY } from '../../objects/security.ts';

/**
 * Of a pod that uses a member's volume, and so runs as a member's user. A volume is made where its first pod may run, so that pod
 * may run where the member may.
 */
export function placeOf(cluster: EtcdCluster): PodPlace {
  const config = configOf(cluster);
  const { securityContext = POD_SECURITY } = config.pod;
  return { ...placement(cluster.metadata.name, config), securityContext, ...pulling(config) };
}

/** Of a pod that runs while the members do, and needs nothing of theirs. */
export function placeBeside(cluster: EtcdCluster): PodPlace {
  const config = configOf(cluster);
  return { ...placementBeside(cluster.metadata.name, config), ...pulling(config) };
}

/** Of a pod that may run on any node: the Secrets with which the cluster pulls. */
export function placeAnywhere(cluster: Pick<EtcdCluster, 'spec'>): PodPlace {
  return pulling(withDefaults(cluster.spec));
}

function configOf({ spec, status }: EtcdCluster): ClusterConfig {
  return withDefaults(spec, { version: status?.currentVersion });
}

function pulling({ pod: { imagePullSecrets } }: ClusterConfig): PodPlace {
  return imagePullSecrets === undefined ? {} : { imagePullSecrets };
}
