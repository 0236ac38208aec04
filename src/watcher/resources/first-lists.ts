/**
 * What the first lists have found, which says whose workflows are told, and which of them first: a replica that has begun to watch does
 * not know what changed while none did.
 */
import { clientServiceName, peerServiceName } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import { listAt } from '../model/json.ts';
import { isAfter, type Positions } from '../queue/told-through.ts';
import type { KnownResource } from './known-resources.ts';
import { ownerOf } from './owner-key.ts';

interface Found {
  /** Names by kind. */
  readonly names: Map<string, Set<string>>;
  newest: number;
}

interface Ordered {
  readonly key: string;
  /** Something is to be done for it, as far as the lists tell. */
  readonly hasWork: boolean;
  /** It, or something of its own, may have changed since all was told. */
  readonly hasChanged: boolean;
}

export class FirstLists {
  /** Up to where another replica had told everything; undefined: nobody knows. */
  readonly #told: Positions | undefined;
  /** By namespace and name of the cluster. */
  readonly #found = new Map<string, Found>();
  /** Namespaces and names of clusters of which an object may have changed since, or something that names them. */
  readonly #changed = new Set<string>();
  /** Namespaces and names of the Secrets that have not changed since. */
  readonly #unchangedSecrets = new Set<string>();

  constructor(told?: Positions) {
    this.#told = told;
  }

  /** Takes in an object of a list. */
  note(object: KubeObject): void {
    const { kind, metadata } = object;
    const { namespace = '' } = metadata;
    const hasChanged = isAfter(metadata.resourceVersion, this.#told?.[kind]);
    if (kind === 'Secret' && !hasChanged)
      this.#unchangedSecrets.add(idOf({ namespace, name: metadata.name }));
    const named = listAt(object, 'clusters').map(String);
    if (hasChanged) for (const name of named) this.#changed.add(idOf({ namespace, name }));
    const owner = ownerOf(object);
    if (owner?.kind !== 'EtcdCluster') return;
    const cluster = idOf(owner);
    if (hasChanged) this.#changed.add(cluster);
    const found = this.#found.get(cluster) ?? { names: new Map(), newest: 0 };
    this.#found.set(cluster, found);
    found.names.set(kind, (found.names.get(kind) ?? new Set()).add(metadata.name));
    found.newest = Math.max(found.newest, versionOf(metadata));
  }

  /**
   * Those with something to do first, then clusters of which an object is missing, then those that changed last: resource versions
   * grow with time where one etcd keeps all kinds (KEP-5504 compares those of one kind); elsewhere the order is another, and nothing else.
   * Forgets what was found.
   */
  order(resources: readonly KnownResource[]): readonly Ordered[] {
    const ranked = resources.map(resource => {
      const { key, ref, hasWork } = resource;
      const found = ref.kind === 'EtcdCluster' ? this.#found.get(idOf(ref)) : undefined;
      const isShort = isShortOf(resource, found);
      const newest = Math.max(versionOf(resource), found?.newest ?? 0);
      const hasChanged = this.#hasChanged(resource);
      return { key, hasWork: hasWork || isShort, hasChanged, rank: hasWork ? 0 : isShort ? 1 : 2, newest };
    });
    this.#found.clear();
    this.#changed.clear();
    this.#unchangedSecrets.clear();
    return ranked.sort((a, b) => a.rank - b.rank || b.newest - a.newest);
  }

  /** Also of a Secret that is not there: whether it ever was is not known. */
  #hasChanged({ ref, resourceVersion, secrets }: KnownResource): boolean {
    const { kind, namespace } = ref;
    return (
      isAfter(resourceVersion, this.#told?.[kind]) ||
      (kind === 'EtcdCluster' && this.#changed.has(idOf(ref))) ||
      secrets.some(name => !this.#unchangedSecrets.has(idOf({ namespace, name })))
    );
  }
}

/** Whether a cluster that is available lacks a member's pod or claim, a Service or its budget. */
function isShortOf({ ref, cluster }: KnownResource, found: Found | undefined): boolean {
  if (cluster === undefined) return false;
  const named = (kind: string) => found?.names.get(kind) ?? new Set<string>();
  const services = [clientServiceName(ref.name), peerServiceName(ref.name)];
  return (
    named('Pod').size < cluster.size ||
    (cluster.hasClaims === true && named('PersistentVolumeClaim').size < cluster.size) ||
    named('PodDisruptionBudget').size === 0 ||
    !services.every(name => named('Service').has(name))
  );
}

const idOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

/** 0 of one that is no number: only the API server knows what its versions mean. */
function versionOf({ resourceVersion }: { readonly resourceVersion?: string | undefined }): number {
  const version = Number(resourceVersion);
  return Number.isFinite(version) ? version : 0;
}
