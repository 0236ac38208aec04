import { withDefaults } from '../api/defaults.ts';
import type { EtcdCluster } from '../api/types.ts';
import type { PodPlace } from '../objects/claim-store.ts';
import { placement } from '../objects/placement.ts';
import { POD_SECURITY } from '../objects/security.ts';

/**
 * Where a pod that helps a cluster may run, and as whom: as its members. A volume is made where its first pod may run, so that pod
 * may run where the member may.
 */
export function placeOf(cluster: EtcdCluster): PodPlace {
  const config = withDefaults(cluster.spec, { version: cluster.status?.currentVersion });
  const { securityContext, imagePullSecrets } = config.pod;
  return {
    ...placement(cluster.metadata.name, config),
    securityContext: securityContext ?? POD_SECURITY,
    ...(imagePullSecrets !== undefined && { imagePullSecrets }),
  };
}
