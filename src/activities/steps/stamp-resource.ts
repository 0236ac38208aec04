import { FINALIZER } from '../../api/names.ts';
import type { Step } from '../../planner/model/decision.ts';
import { lastSerialOf } from '../../planner/model/identity.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { clusterFacts } from '../observe/observe.ts';
import { readLivingCluster, stampIdentity, writeMetadata } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';

/** Puts the finalizer and the stamps back on the resource, as its status tells them. Doing it twice changes nothing. */
export async function stampResource(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'stampResource' }>,
): Promise<void> {
  let cluster = await readLivingCluster(deps.kube, ref);
  const { incarnation, clusterID: clusterId } = cluster.status ?? {};
  const { token, lacking } = step;
  if (incarnation?.token !== token)
    throw preconditionChanged(`incarnation ${token} is not the recorded incarnation`);
  const { finalizers = [] } = cluster.metadata;
  if (!finalizers.includes(FINALIZER))
    cluster = await writeMetadata(deps.kube, cluster, { finalizers: [...finalizers, FINALIZER] });
  if (clusterId !== undefined) {
    const lastSerial = lastSerialOf(clusterFacts(cluster));
    await stampIdentity(deps.kube, cluster, { token, clusterId, lastSerial });
  }
  const message = `restored ${lacking.join(', ')} on EtcdCluster ${ref.name}`;
  recordClusterEvent(deps, ref, { reason: 'ObjectPutBack', message });
}
