/** Which changes are worth a signal. Pure; works on what `slim.ts` leaves of an object. */
import type { KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import { resourceOf } from './owner-key.ts';

/**
 * Whether the workflow must look again because of a change.
 *
 * A new and a gone object always count. A modified custom resource counts only by what people change
 * (generation, which the apiserver raises for the spec; deletion; labels; annotations; not finalizers, of which the
 * operator adds and removes its own): the operator writes the status itself, and a signal for that would wake the workflow for ever, and use up the 10,000 signals that
 * Temporal allows a run. A modified owned object counts by its meaning, a Secret by any new version.
 */
export function worthTelling(change: StoreChange): boolean {
  if (change.type !== 'updated') return true;
  const { object, previous } = change;
  if (object.metadata.uid !== previous.metadata.uid) return true;
  if (object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp) return true;
  if (object['marks'] !== previous['marks']) return true;
  if (resourceOf(object) !== undefined) return object.metadata.generation !== previous.metadata.generation;
  if (object.kind === 'Secret') return object.metadata.resourceVersion !== previous.metadata.resourceVersion;
  return meaning(object) !== meaning(previous);
}

/**
 * Whether somebody waits for what follows from a change that is worth telling: a specification was edited or a resource is to
 * go, or a pod or claim is gone, whose name is free again. All of these are rare, also in a storm.
 */
export function isUrgent(change: StoreChange): boolean {
  const { object } = change;
  if (change.type === 'deleted') return object.kind === 'Pod' || object.kind === 'PersistentVolumeClaim';
  if (resourceOf(object) === undefined || change.type !== 'updated') return false;
  const { generation, deletionTimestamp } = change.previous.metadata;
  return object.metadata.generation !== generation || object.metadata.deletionTimestamp !== deletionTimestamp;
}

function meaning(object: KubeObject): unknown {
  return object['meaning'];
}
