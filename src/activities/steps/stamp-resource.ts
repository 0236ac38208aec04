import { FINALIZER } from '../../api/names.ts';
import { lastSerialOf } from '../../planner/model/identity.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { clusterFacts } from '../observe/observe.ts';
import { readLivingCluster, stampIdentity, writeMetadata } from '../resource/etcd-cluster.ts';
import type { Perform } from './shared/perform.ts';

/** Puts the finalizer and the stamps back on the resource, as its status has them. Doing it twice changes nothing. */
export const stampResource: Perform<'stampResource'> = async (deps, ref, step) => {
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
};
