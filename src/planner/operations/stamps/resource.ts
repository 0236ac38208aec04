/**
 * What the operator keeps on the EtcdCluster itself: its finalizer, without which a deletion could not be followed up and would
 * leave claims behind that were to go, and the stamps that outlast a lost status. A user who replaces the whole object with a plain
 * manifest (`kubectl replace`) takes them off; they are put back.
 */
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DOMAIN,
  ANNOTATION_INCARNATION,
  ANNOTATION_LAST_SERIAL,
  ANNOTATION_SECURITY,
  ANNOTATION_TAKEN_UP,
  FINALIZER,
} from '../../../api/names.ts';
import { type Decision, operate } from '../../model/decision.ts';
import { takenUpPrefix } from '../../model/identity.ts';
import type { ClusterFacts, Observation } from '../../model/observation.ts';

const STAMPS = [
  ANNOTATION_INCARNATION,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_LAST_SERIAL,
  ANNOTATION_SECURITY,
  ANNOTATION_DOMAIN,
];

/** Undefined when nothing of it is missing, and before there is anything to hold. Before all else: a deletion may come at any time. */
export function planResourceStamps({ cluster }: Observation): Decision | undefined {
  const token = cluster.status.incarnation?.token;
  if (token === undefined) return undefined;
  const lacking = [...(cluster.hasFinalizer ? [] : [FINALIZER]), ...stampsLacking(cluster)];
  return lacking.length === 0
    ? undefined
    : operate('repairCluster', [{ kind: 'stampResource', token, lacking }]);
}

/** What a stamp says is never changed here; they are first put on when the cluster has its id. */
function stampsLacking(cluster: ClusterFacts): string[] {
  const { object, status } = cluster;
  if (status.clusterID === undefined) return [];
  const isTakenUp = takenUpPrefix(cluster) !== undefined;
  const stamps = [...STAMPS, ...(isTakenUp ? [ANNOTATION_TAKEN_UP] : [])];
  return stamps.filter(key => object.metadata.annotations?.[key] === undefined);
}
