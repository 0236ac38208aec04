/** Where a pod that lends a claim may run, what it requests, and with which Secrets its image is pulled: as the cluster says that it works for. */
import { clusterOfBackup } from '../../api/derived/endpoints.ts';
import { API_VERSION } from '../../api/names.ts';
import type { EtcdCluster, RawObject } from '../../api/schemas/types.ts';
import type { KubeClient } from '../../kube/port.ts';
import type { PodPlace } from '../../objects/claim-store.ts';
import { asCluster } from '../resource/read-cluster.ts';
import type { StoreOwner } from '../runtime/dependencies.ts';
import { placeAnywhere, resourcesOf } from '../runtime/pod-placement.ts';

/**
 * Where the cluster is gone, or none is named, the pod names no Secret: Kubernetes then adds those of the ServiceAccount `default`.
 * Throws what the API server refuses.
 */
export async function pullingFor(
  kube: KubeClient,
  { metadata: { namespace }, spec, restored }: StoreOwner,
): Promise<{ readonly place?: PodPlace; readonly resources?: RawObject | undefined }> {
  // The cluster of a template may not exist yet, and does not name other Secrets when it does.
  if (restored?.clusterTemplate !== undefined) return likeOf({ spec: restored.clusterTemplate });
  const name = restored?.etcdCluster.name ?? clusterOfBackup(spec, namespace);
  if (name === undefined) return {};
  const object = await kube.get({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
  return object === undefined ? {} : likeOf(asCluster(object));
}

function likeOf(cluster: Pick<EtcdCluster, 'spec'>) {
  return { place: placeAnywhere(cluster), resources: resourcesOf(cluster) };
}
