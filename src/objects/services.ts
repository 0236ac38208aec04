/** The two Services of a cluster: one that gives members their names, one for clients. Pure. */
import { withDefaults } from '../api/defaults/etcd-cluster.ts';
import {
  CLIENT_PORT,
  clientSelector,
  clientServiceName,
  clusterLabels,
  clusterSelector,
  PEER_PORT,
  peerServiceName,
} from '../api/names.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { type ManifestObject, ownerReference } from './manifest.ts';
import { stamped } from './rendered.ts';

const CLIENT = { name: 'client', port: CLIENT_PORT, protocol: 'TCP', targetPort: CLIENT_PORT } as const;
const PEER = { name: 'peer', port: PEER_PORT, protocol: 'TCP', targetPort: PEER_PORT } as const;

/**
 * The headless Service behind the members' host names. It publishes pods that are not ready: members need each
 * other's addresses before any of them can be ready, or a bootstrap would wait for itself.
 */
export function peerService(cluster: EtcdCluster): ManifestObject {
  const { name, namespace } = cluster.metadata;
  return stamped({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: peerServiceName(name),
      namespace,
      labels: clusterLabels(name),
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: clusterSelector(name),
      ports: [CLIENT, PEER],
    },
  });
}

/** The Service for applications: only members that are ready to serve, that is voters with a leader, and not about to stop. */
export function clientService(cluster: EtcdCluster): ManifestObject {
  const { name, namespace } = cluster.metadata;
  const { service } = withDefaults(cluster.spec);
  const annotations = service.annotations ?? {};
  return stamped({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: clientServiceName(name),
      namespace,
      labels: { ...service.labels, ...clusterLabels(name) },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      type: service.type,
      selector: clientSelector(name),
      ports: [CLIENT],
      ...(service.trafficDistribution ? { trafficDistribution: service.trafficDistribution } : {}),
    },
  });
}
