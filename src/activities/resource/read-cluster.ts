/** Reading an EtcdCluster, for those that write nothing. */
import { effectiveCluster } from '../../api/derived/settings-in-force.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { readResource } from './custom-resource.ts';

/** The EtcdCluster of this uid; undefined when it is gone, also when another one stands under its name. */
export async function readCluster(kube: KubeClient, ref: ClusterRef): Promise<EtcdCluster | undefined> {
  const object = await readResource(kube, 'EtcdCluster', ref);
  return object && asCluster(object);
}

/** With the specification that is in force. The API server validated it against our own schema, so its shape is known. */
export function asCluster(object: KubeObject): EtcdCluster {
  return effectiveCluster(object as unknown as EtcdCluster);
}
