/** Where pods that help a cluster may run. */
import { type ClusterConfig, withDefaults } from '../../api/defaults/etcd-cluster.ts';
import type { EtcdCluster, RawObject } from '../../api/schemas/types.ts';
import type { PodPlace } from '../../objects/claim-store.ts';
import { optionalField, placement, placementBeside } from '../../objects/placement.ts';
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
  const securityContext = securityBeside(config.pod.securityContext);
  return { ...placementBeside(cluster.metadata.name, config), securityContext, ...pulling(config) };
}

/**
 * Of a pod that uses a claim which is none of a member's: the volume says on which nodes, tainted ones of the cluster among them, and
 * belongs to the user of the pods before.
 */
export function placeAnywhere(cluster: Pick<EtcdCluster, 'spec'>): PodPlace {
  const config = withDefaults(cluster.spec);
  return { ...optionalField('tolerations', config.pod.tolerations), ...pulling(config) };
}

/** What pods that help a cluster request beside what they need: as its own pods (objects/helper-resources.ts). */
export function resourcesOf({ spec }: Pick<EtcdCluster, 'spec'>): RawObject | undefined {
  return withDefaults(spec).pod.resources;
}

/** The users that a namespace allows are those that the members have; the pod reads its Secret by its group. */
function securityBeside(theirs: RawObject | undefined): RawObject {
  const isRoot = theirs?.['runAsUser'] === 0 && { runAsNonRoot: false };
  return { ...POD_SECURITY, ...isRoot, ...theirs };
}

function configOf({ spec, status }: EtcdCluster): ClusterConfig {
  return withDefaults(spec, { version: status?.currentVersion });
}

function pulling({ pod: { imagePullSecrets } }: ClusterConfig): PodPlace {
  return imagePullSecrets === undefined ? {} : { imagePullSecrets };
}
