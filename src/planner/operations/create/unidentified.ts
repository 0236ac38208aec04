/** What stands in the way of a cluster of which no identity is recorded, and what users can do. Pure. */
import { ANNOTATION_CLUSTER_ID, ANNOTATION_INCARNATION } from '../../../api/names.ts';
import type { Incarnation } from '../../../api/schemas/types.ts';
import type { Obstacle } from '../../model/decision.ts';
import { missingStampsMessage, stampsOf, unstampedClaims } from '../../model/identity.ts';
import type { Situation } from '../../model/situation.ts';

/** Claims or pods are there, and nothing proves which cluster their members are. */
export function identityUnknown(situation: Situation, { token }: Incarnation): Obstacle {
  const { membership } = situation;
  const reason = 'IdentityUnknown';
  const exist = `claims or pods of incarnation ${token} exist`;
  if (!membership.known) {
    const instead =
      restoreWithoutStatus(situation, token) ??
      `${exist}, but neither the status nor their annotations nor a quorum shows the cluster id; start the members again, or delete the claims if the cluster never contained data`;
    return { reason, message: instead };
  }
  const { clusterId } = membership;
  const message = `${exist}, neither the status nor their annotations show the cluster id, and the quorum reports ${clusterId}, which these members do not form with that token: either members have been replaced, or the volumes contain the data of another cluster. If the data is that of this cluster, add the annotation ${ANNOTATION_CLUSTER_ID}=${clusterId} to one of the claims; if not, empty the volumes and delete the pods`;
  return { reason, message };
}

/**
 * What to do when a restore was under way, and what was before it is kept; undefined when that is not so. The resource has the stamps of the
 * cluster that formed last, before clients were let in. Claims are kept long after a restore: without these stamps they prove nothing.
 */
export function restoreWithoutStatus(
  { cluster, claims, pods }: Situation,
  token: string,
): string | undefined {
  const { token: last, clusterId } = stampsOf(cluster);
  const isOfLast = clusterId !== undefined && last !== token;
  const kept = claims.filter(
    claim => isOfLast && claim.owned && claim.keptByRestore === true && claim.token === last,
  );
  if (kept.length === 0) return undefined;
  const begun = [
    ...pods.filter(pod => pod.owned && pod.token === token).map(({ name }) => `pod ${name}`),
    ...claims.filter(claim => claim.owned && claim.token === token).map(({ name }) => `claim ${name}`),
  ];
  const before = kept.map(({ name }) => name).join(', ');
  return `claims or pods of incarnation ${token} exist, and nothing shows the cluster id: the status was lost while an EtcdRestore had not let in clients yet, and what was before it is kept on claim ${before}. Delete ${begun.join(', ')}, which contain nothing but a copy of the backup: the operator then returns to the state before the restore`;
}

/** Nothing is left of it, or what is left does not say that it belongs to it. */
export function nothingStamped(
  situation: Situation,
  { token }: Incarnation,
  clusterId: string | undefined,
): Obstacle {
  const unstamped = unstampedClaims(situation);
  return unstamped.length === 0
    ? everythingLost(situation, clusterId)
    : { reason: 'IdentityUnknown', message: missingStampsMessage(situation.cluster, unstamped, token) };
}

/** Its own pods have lost what was written on them, and so has everything else. */
export function podsUnidentified(pods: readonly string[]): Obstacle {
  return {
    reason: 'IdentityUnknown',
    message: `pod ${pods.join(', ')} is owned by this EtcdCluster, but nothing shows which etcd cluster its member belongs to: restore the annotation ${ANNOTATION_INCARNATION} of the pod from its claim or from a backup of the objects, or delete the pod if the cluster never contained data`,
  };
}

/** An empty cluster is never made in place of one that lived: its clients would take it for the old one, emptied. */
function everythingLost({ cluster }: Situation, clusterId: string | undefined): Obstacle {
  return {
    reason: 'EverythingLost',
    message: `cluster ${clusterId} of ${cluster.namespace}/${cluster.name} has lost its claims, pods and status: its data is lost; restore a backup into a new EtcdCluster, or delete this one`,
  };
}

/** A cluster that was made to be restored into is never made empty. */
export function awaitsRestore(name: string): Obstacle {
  return {
    reason: 'AwaitingRestore',
    message: `EtcdRestore ${name} created this cluster and will restore its data; if that EtcdRestore no longer exists, delete this EtcdCluster`,
  };
}
