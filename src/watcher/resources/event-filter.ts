/** Which changes are worth a signal. Pure; works on what `slim.ts` leaves of an object. */
import type { KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import { at } from '../model/json.ts';
import { ownerOf, resourceOf } from './owner-key.ts';
import { onlyStamped, sameStamps, withStampsOf } from './stamps.ts';

/**
 * Whether the workflow must look again because of a change.
 *
 * A new and a gone object count, but for a Service or PodDisruptionBudget that the operator has just made: its creator looks
 * afterwards. When its worker ends in between, Temporal has the pass or the operation made again; when its workflow does, the watcher finds
 * that it does not run (conditions/workflow-check.ts).
 *
 * A modified custom resource counts only by what users change
 * (generation, which the apiserver raises for the spec; deletion; labels; annotations; finalizer and identity when they are
 * taken away): the operator writes the status itself, and a signal for that would wake the workflow for ever, and use up the 10,000 signals that
 * Temporal allows a run. A modified owned object counts by its meaning, a Secret by any new version.
 */
export function isWorthEnqueueing(change: StoreChange): boolean {
  if (change.type !== 'updated') return change.type === 'deleted' || !isOwnCreation(change.object);
  const { object, previous } = change;
  if (object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp) return true;
  if (object['marks'] !== previous['marks'] || !sameStamps(object, previous)) return true;
  if (resourceOf(object) !== undefined) return isEdited(change);
  if (object.kind === 'Secret') return object.metadata.resourceVersion !== previous.metadata.resourceVersion;
  return meaning(object) !== meaning(previous) || object['state'] !== previous['state'];
}

/** What members share. */
const SHARED = ['Service', 'PodDisruptionBudget'];

function isOwnCreation(object: KubeObject): boolean {
  return SHARED.includes(object.kind) && object['isJustMade'] === true && isOwned(object);
}

/** Whether it names a resource as its owner, and not only in its labels. */
const isOwned = (object: KubeObject): boolean => ownerOf(object)?.uid !== undefined;

/** What an operation makes for its cluster, besides claims. */
const MADE = ['Pod', ...SHARED];

/** What an operation stamps; of a pod it also changes what its node says. */
const STAMPED = ['Pod', 'PersistentVolumeClaim', 'EtcdCluster'];

/**
 * Whether a change may be the doing of an operation: it has made something that its cluster owns, or nothing has changed but what the
 * scheduler and the kubelet say of a pod, and the operator's own stamps have been put on. Nobody asks for anything by it.
 */
export function isOfOperation(change: StoreChange): boolean {
  const { type, object } = change;
  if (type === 'added') return MADE.includes(object.kind) && isOwned(object);
  if (type !== 'updated' || !STAMPED.includes(object.kind)) return false;
  const { previous } = change;
  const stamped = onlyStamped(object, previous) ? withStampsOf(object, previous) : object;
  const asBefore = { ...change, object: { ...stamped, state: previous['state'] } };
  return isWorthEnqueueing(change) && !isWorthEnqueueing(asBefore);
}

/**
 * A specification was edited, or something was taken away or altered that the operator needs and writes itself: its finalizer, the
 * identity in a status. That it is written for the first time is the operator's doing.
 */
function isEdited({ object, previous }: StoreChange & { readonly type: 'updated' }): boolean {
  const lostFinalizer = previous['hasFinalizer'] === true && object['hasFinalizer'] !== true;
  const lostIdentity = Object.keys(at(previous, 'identity') ?? {}).some(
    field => at(object, 'identity', field) !== at(previous, 'identity', field),
  );
  return object.metadata.generation !== previous.metadata.generation || lostFinalizer || lostIdentity;
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

function meaning(object: KubeObject): unknown {
  return object['meaning'];
}
