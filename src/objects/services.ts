/** The two Services of a cluster: one that gives members their names, one for clients. Pure. */
import { withDefaults } from '../api/defaults/etcd-cluster.ts';
import {
  CLIENT_PORT,
  CLIENTS_KEPT_OUT,
  clientSelector,
  clientServiceName,
  clusterLabels,
  clusterSelector,
  LABEL_CLIENTS,
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

/**
 * The Service for applications while a restore keeps clients out: it selects no pod. The object stays what it is, with its uid, its addresses, its
 * node ports and its load balancer, which clients know.
 */
export function closedClientService(cluster: EtcdCluster): ManifestObject {
  return serviceFor(cluster, { ...clientSelector(cluster.metadata.name), [LABEL_CLIENTS]: CLIENTS_KEPT_OUT });
}

/** Whether a client Service, as it stands, keeps clients out. */
export function keepsClientsOut(service: Readonly<Record<string, unknown>>): boolean {
  const { selector } = (service['spec'] ?? {}) as { readonly selector?: Readonly<Record<string, string>> };
  return selector?.[LABEL_CLIENTS] === CLIENTS_KEPT_OUT;
}

/** The Service for applications: only members that are ready to serve, that is voters with a leader, and not about to stop. */
export function clientService(cluster: EtcdCluster): ManifestObject {
  return serviceFor(cluster, clientSelector(cluster.metadata.name));
}

function serviceFor(cluster: EtcdCluster, selector: Readonly<Record<string, string>>): ManifestObject {
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
      selector,
      ports: [CLIENT],
      ...(service.trafficDistribution ? { trafficDistribution: service.trafficDistribution } : {}),
    },
  });
}
