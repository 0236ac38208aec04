/** Reading and writing the custom resource itself, always guarded by its uid and resource version. */
import { domainStamp } from '../../api/derived/domain.ts';
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DOMAIN,
  ANNOTATION_INCARNATION,
  ANNOTATION_LAST_SERIAL,
  ANNOTATION_SECURITY,
  ANNOTATION_TAKEN_UP,
  API_VERSION,
} from '../../api/names.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { securityStamp } from '../../api/derived/tls.ts';
import type { EtcdCluster, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { prefixOf, takenUpPrefix, tokenPrefix } from '../../planner/model/identity.ts';
import type { KubeClient, ObjectRef } from '../../kube/port.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { asCluster, readCluster } from './read-cluster.ts';
import { replaceStatus } from './status-writing.ts';

/** As {@link readCluster}; fails with PreconditionChanged when it is gone or being deleted. */
export async function readLivingCluster(kube: KubeClient, ref: ClusterRef): Promise<EtcdCluster> {
  const cluster = await readCluster(kube, ref);
  if (cluster === undefined) throw preconditionChanged(`EtcdCluster ${ref.namespace}/${ref.name} is gone`);
  if (cluster.metadata.deletionTimestamp !== undefined) {
    throw preconditionChanged(`EtcdCluster ${ref.namespace}/${ref.name} is being deleted`);
  }
  return cluster;
}

/** Writes some fields of the status wholly, takes those away that are null, and leaves the others. Fails with a Conflict as {@link replaceStatus} does. */
export async function recordStatus(
  kube: KubeClient,
  cluster: EtcdCluster,
  fields: { readonly [Key in keyof EtcdClusterStatus]: EtcdClusterStatus[Key] | null },
): Promise<EtcdCluster> {
  const status = Object.entries({ ...cluster.status, ...fields }).filter(([, value]) => value !== null);
  return asCluster(await replaceStatus(kube, cluster, { status: Object.fromEntries(status) }));
}

/** Writes the whole list of finalizers, or some annotations. Fails with a Conflict as {@link replaceStatus} does. */
export async function writeMetadata(
  kube: KubeClient,
  cluster: EtcdCluster,
  fields: {
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
  },
): Promise<EtcdCluster> {
  const { uid, resourceVersion } = cluster.metadata;
  const patch = { metadata: { uid, resourceVersion, ...fields } };
  return asCluster(await kube.patch(clusterRef(cluster.metadata), patch, { type: 'merge' }));
}

/**
 * Stamps on the resource what a lost status is not to take along: which cluster it is, the last serial that was used, how its
 * traffic is secured and the domain of its members, as far as the status shows it. Fails with a Conflict as {@link replaceStatus} does.
 */
export function stampIdentity(
  kube: KubeClient,
  cluster: EtcdCluster,
  {
    token,
    clusterId,
    lastSerial,
  }: { readonly token: string; readonly clusterId: string; readonly lastSerial: number },
): Promise<EtcdCluster> {
  const { name, uid } = cluster.metadata;
  const isOwn = token.startsWith(tokenPrefix({ name, uid }));
  const taken = isOwn
    ? takenUpPrefix({ name, uid, object: cluster, status: cluster.status })
    : prefixOf(token);
  const annotations = {
    ...(taken !== undefined && { [ANNOTATION_TAKEN_UP]: `${uid} ${taken}` }),
    [ANNOTATION_INCARNATION]: token,
    [ANNOTATION_CLUSTER_ID]: clusterId,
    [ANNOTATION_LAST_SERIAL]: String(lastSerial),
    // A status that was lost says nothing of it: what was stamped before stays.
    ...(cluster.status?.incarnation && {
      [ANNOTATION_SECURITY]: securityStamp(cluster),
      [ANNOTATION_DOMAIN]: domainStamp(cluster),
    }),
  };
  return writeMetadata(kube, cluster, { annotations });
}

function clusterRef(of: Pick<ClusterRef, 'namespace' | 'name'>): ObjectRef {
  return { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: of.namespace, name: of.name };
}
