/** What is watched, how it is slimmed, and which resources a change of it concerns. */
import { API_VERSION, APP, LABEL_APP, LABEL_CLUSTER, REQUEST_KIND } from '../../api/names.ts';
import type { KindRef, KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import { listAt } from '../model/json.ts';
import type { KnownResources } from './known-resources.ts';
import { isWorthEnqueueing, isWorthEnqueueingClusters } from './event-filter.ts';
import { keyOf, ownerOf, resourceOf } from './owner-key.ts';
import { slimRequest } from './requests.ts';
import { slimOwned, slimPod, slimResource, slimSecret } from './slim.ts';

export interface WatchedKind {
  readonly kind: KindRef;
  readonly labelSelector?: string;
  readonly metadataOnly?: boolean;
  readonly slim: (object: KubeObject) => KubeObject;
}

const resource = (kind: string, slim = slimResource): WatchedKind => ({
  kind: { apiVersion: API_VERSION, kind },
  slim,
});

/** What belongs to a cluster carries both labels, whatever its owner reference says. */
const owned = (apiVersion: string, kind: string, slim = slimOwned): WatchedKind => ({
  kind: { apiVersion, kind },
  labelSelector: `${LABEL_APP}=${APP},${LABEL_CLUSTER}`,
  slim,
});

/**
 * Secrets carry no label of ours: users make them, and the resources refer to them by name. That one has changed shows in its
 * metadata; what it holds is read by the pass that follows.
 */
export const WATCHED_KINDS: readonly WatchedKind[] = [
  resource('EtcdCluster'),
  resource('EtcdBackup'),
  resource('EtcdRestore'),
  resource(REQUEST_KIND, slimRequest),
  owned('v1', 'Pod', slimPod),
  owned('v1', 'PersistentVolumeClaim'),
  owned('v1', 'Service'),
  owned('policy/v1', 'PodDisruptionBudget'),
  { kind: { apiVersion: 'v1', kind: 'Secret' }, metadataOnly: true, slim: slimSecret },
];

/** The keys of the clusters that a restore or a backup names. */
function clustersOf(object: KubeObject, known: KnownResources): readonly string[] {
  const { namespace } = object.metadata;
  if (namespace === undefined) return [];
  const names = listAt(object, 'clusters').map(String);
  return names.flatMap(name => known.owning({ kind: 'EtcdCluster', namespace, name, uid: undefined }));
}

/** The keys of the existing resources that an owned object or a Secret concerns, each once. */
export function concernedBy(object: KubeObject, known: KnownResources): readonly string[] {
  const owner = ownerOf(object);
  const keys = owner === undefined ? [] : known.owning(owner);
  const { namespace, name } = object.metadata;
  if (object.kind !== 'Secret' || namespace === undefined) return keys;
  return [...new Set([...keys, ...known.referringTo(namespace, name)])];
}

/** The resources that must be reconciled because of a change, each once. One of the three kinds is known already, or no more. */
export function keysToEnqueue(change: StoreChange, known: KnownResources): readonly string[] {
  const ref = resourceOf(change.object);
  if (ref === undefined) return isWorthEnqueueing(change) ? concernedBy(change.object, known) : [];
  const own = isWorthEnqueueing(change) ? [keyOf(ref)] : [];
  if (!isWorthEnqueueingClusters(change)) return own;
  // Also one that it was about before.
  const objects = change.type === 'updated' ? [change.object, change.previous] : [change.object];
  return [...new Set([...own, ...objects.flatMap(object => clustersOf(object, known))])];
}
