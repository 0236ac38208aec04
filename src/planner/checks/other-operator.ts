/**
 * An EtcdCluster that this operator did not make: the CoreOS operator's kind has the same name, and its objects are there when this one is
 * installed. What its members are is recorded nowhere, their data is in their pods, and a cluster that is begun under the same name is
 * empty (docs/decisions/0124-what-another-cluster-left-is-not-taken.md). Pure.
 */
import { clientServiceName, isNameOfMember } from '../../api/names.ts';
import type { Obstacle } from '../model/decision.ts';
import { rebuiltIdentity } from '../model/identity.ts';
import type { Observation, PodFacts } from '../model/observation.ts';

type Seen = Pick<
  Observation,
  'cluster' | 'pods' | 'claims' | 'membership' | 'expectedClusterId' | 'clientService'
>;

const RESTORE =
  'back it up and restore the backup into another EtcdCluster (docs/operations/migrate-from-coreos.md)';

/** Why nothing is made, stopped or overwritten; undefined for a cluster of this operator, and for one that never was. */
export function madeByOtherOperator(observation: Seen): Obstacle | undefined {
  if (observation.cluster.status.incarnation !== undefined) return undefined;
  if (rebuiltIdentity(observation) !== undefined) return undefined;
  const strangers = podsOfOtherOperator(observation).map(({ name }) => name);
  if (strangers.length > 0) {
    return {
      reason: 'OtherOperator',
      message: `pod ${strangers.join(', ')} is owned by this EtcdCluster and was created by another operator, such as the CoreOS operator: nothing is created, changed or stopped; ${RESTORE}`,
    };
  }
  const trace = traceOfLife(observation);
  if (trace === undefined) return undefined;
  return {
    reason: 'OtherOperator',
    message: `${trace}, but no pod, claim or annotation of this operator belongs to the EtcdCluster: another operator created it, and no empty cluster is created in its place; restore a backup into another EtcdCluster, or delete this one and create it again`,
  };
}

/** Pods that it owns and that bear neither a stamp nor a name such as this operator gives. */
function podsOfOtherOperator({ cluster, pods }: Seen): readonly PodFacts[] {
  return pods.filter(
    ({ owned, token, name }) => owned && token === undefined && !isNameOfMember(cluster.name, name),
  );
}

/** What only a cluster that has served clients has. Both stay when its pods go: the status carries the version on. */
function traceOfLife({ cluster, clientService }: Seen): string | undefined {
  const { currentVersion = '' } = cluster.status;
  if (currentVersion !== '') return `status.currentVersion is ${currentVersion}`;
  // This operator makes it when the cluster id is recorded and stamped.
  if (clientService.exists && clientService.owned) return `Service ${clientServiceName(cluster.name)} exists`;
  return undefined;
}
