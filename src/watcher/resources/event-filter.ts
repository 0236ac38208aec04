/** Which changes are worth a signal. Pure; works on what `slim.ts` leaves of an object. */
import type { StoreChange } from '../../kube/store.ts';
import { at } from '../model/json.ts';

type Update = StoreChange & { readonly type: 'updated' };

/** Whether the workflow must look again because of a change. */
export function isWorthEnqueueing(change: StoreChange): boolean {
  if (change.type !== 'updated') return true;
  return change.object['state'] !== change.previous['state'] || isTakenAway(change);
}

/** What an operation changes: members, and the stamps of their cluster. */
const OF_MEMBERS = ['EtcdCluster', 'Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'];

/**
 * Whether a change may be the doing of an operation, which observes itself what becomes of it. Nobody asks for anything by it: no
 * specification is edited, and nothing is deleted or taken away.
 */
export function isOfOperation(change: StoreChange): boolean {
  const { type, object } = change;
  if (type === 'deleted' || !OF_MEMBERS.includes(object.kind)) return false;
  if (type === 'added') return object.kind !== 'EtcdCluster';
  const { generation, deletionTimestamp } = change.previous.metadata;
  const isEdited = object.kind === 'EtcdCluster' && object.metadata.generation !== generation;
  return !isEdited && object.metadata.deletionTimestamp === deletionTimestamp && !isTakenAway(change);
}

/**
 * Something was taken away or altered that the operator needs and writes itself: its finalizer, the identity in a status. That it is written
 * for the first time is the operator's doing.
 */
function isTakenAway({ object, previous }: Update): boolean {
  if (previous['hasFinalizer'] === true && object['hasFinalizer'] !== true) return true;
  return Object.entries(previous['identity'] ?? {}).some(
    ([field, before]) => at(object, 'identity', field) !== before,
  );
}

/**
 * Whether the clusters that one of the three kinds names must be looked at because of a change. A restore is carried out by its
 * cluster's workflow; of a backup the status of its cluster says what became of it.
 */
export function isWorthEnqueueingClusters(change: StoreChange): boolean {
  const { kind } = change.object;
  if (kind === 'EtcdRestore' || change.type !== 'updated') return isWorthEnqueueing(change);
  return kind === 'EtcdBackup' && change.object['results'] !== change.previous['results'];
}
