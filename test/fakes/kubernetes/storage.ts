import { KubeError } from '../../../src/kube/errors.ts';
import type { KindRef, KubeObject, ListOptions, ObjectRef, WritableObject } from '../../../src/kube/port.ts';
import { collectionPath, objectPath } from '../../../src/kube/resources.ts';
import { cloneJson, type Json, ownAfterUpdate, type Ownership, sameJson } from './fields.ts';
import { matchesFields, matchesLabels } from './match.ts';

export interface Stored {
  object: KubeObject;
  owners: Ownership;
}

/** One revision: what an object was and what it became; no `after` is a removal. */
export interface Change {
  readonly revision: number;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

export interface StorageOptions {
  readonly now: () => Date;
  readonly gracefulKinds: readonly string[];
  readonly collectGarbage: boolean;
  /**
   * For worlds of very many steps: what is stored is handed out itself, never to be changed, and neither history nor the owners of
   * updated fields are kept.
   */
  readonly isShared?: boolean;
  /** Unlike an apiserver's: so that what happens within one second has an order. */
  readonly keepsMilliseconds?: boolean;
  /** What an apiserver adds to an object before it is stored, e.g. the defaults of its kind. */
  readonly complete?: (object: KubeObject, isNew: boolean) => KubeObject;
}

/** The objects, their revisions and who hears of them: the etcd and garbage collector behind the fake. */
export class FakeStorage {
  readonly options: StorageOptions;
  readonly changes: Change[] = [];
  readonly listeners = new Set<(change: Change) => void>();
  revision = 1;
  /** Watches from before this revision are answered 410. */
  compacted = 0;
  /** By apiVersion and kind, then by namespace and name. */
  readonly #objects = new Map<string, Map<string, Stored>>();
  #uids = 0;

  constructor(options: StorageOptions) {
    this.options = options;
  }

  find(ref: ObjectRef): Stored | undefined {
    if (this.options.isShared !== true) objectPath(ref);
    return this.#objects.get(kindOf(ref))?.get(keyOf(ref));
  }

  /** The stored objects of a kind themselves, in the order in which they were made. */
  ofKind(kind: KindRef): KubeObject[] {
    return [...(this.#objects.get(kindOf(kind))?.values() ?? [])].map(({ object }) => object);
  }

  require(ref: ObjectRef): Stored {
    const found = this.find(ref);
    if (found === undefined) throw fault(404, 'NotFound', `${ref.kind} ${ref.namespace ?? ''}/${ref.name}`);
    return found;
  }

  /** The stored objects themselves, ordered by namespace and name. */
  select(
    kind: KindRef | undefined,
    by: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
  ): KubeObject[] {
    if (kind !== undefined) collectionPath(kind, by.namespace);
    const objects = kind === undefined ? this.#all().map(({ object }) => object) : this.ofKind(kind);
    return objects.filter(object => selects(object, by)).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  /** Writes an object, unless it equals the stored one; counts its generation; removes it when nothing holds it. */
  store(given: KubeObject, owners: Ownership, before: KubeObject | undefined): KubeObject {
    const object = { ...given, metadata: { ...given.metadata } };
    if (before !== undefined && sameJson(before, object)) {
      this.#keep({ object: before, owners });
      return this.copy(before);
    }
    this.revision += 1;
    object.metadata.resourceVersion = String(this.revision);
    if (before !== undefined && !sameJson(desiredPart(before), desiredPart(object))) {
      object.metadata.generation = (before.metadata.generation ?? 1) + 1;
    }
    const stored = this.copy(object);
    this.#keep({ object: stored, owners });
    this.#announce({ revision: this.revision, before, after: stored });
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    const held = finalizers.length > 0 || this.options.gracefulKinds.includes(object.kind);
    if (deletionTimestamp !== undefined && !held) this.remove(stored);
    return this.copy(object);
  }

  remove(object: KubeObject): void {
    this.#objects.get(kindOf(object))?.delete(nameOf(object));
    this.revision += 1;
    this.#announce({ revision: this.revision, before: this.copy(object), after: undefined });
    if (this.options.collectGarbage) this.#collectChildren(object);
  }

  /** What is handed out of an object. */
  copy<T>(object: T): T {
    return this.options.isShared === true ? object : cloneJson(object);
  }

  /** The owners of fields after an update by a manager. */
  ownersAfter(before: KubeObject | undefined, after: KubeObject, update: Updated): Ownership {
    if (this.options.isShared === true) return update.owners;
    return ownAfterUpdate((before ?? {}) as Json, after as Json, update.owners, `Update ${update.manager}`);
  }

  newUid(): string {
    this.#uids += 1;
    return `${this.#uids.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
  }

  timestamp(): string {
    const text = this.options.now().toISOString();
    return this.options.keepsMilliseconds === true ? text : text.replace(/\.\d+Z$/, 'Z');
  }

  /** Starts the deletion of an object, and ends it too when neither a finalizer nor a grace period holds it. */
  beginDeletion(found: Stored, gracePeriodSeconds: number | undefined): void {
    const object = { ...found.object, metadata: { ...found.object.metadata } };
    const graceful = this.options.gracefulKinds.includes(object.kind) && gracePeriodSeconds !== 0;
    if (!graceful && (object.metadata.finalizers ?? []).length === 0) {
      this.remove(found.object);
    } else if (object.metadata.deletionTimestamp === undefined) {
      object.metadata.deletionTimestamp = this.timestamp();
      object.metadata.deletionGracePeriodSeconds = graceful ? (gracePeriodSeconds ?? 30) : 0;
      this.store(object, found.owners, found.object);
    }
  }

  /** As the API server does when an object is deleted with `--cascade=orphan`. */
  holdAsOrphan({ object, owners }: Stored): void {
    const { finalizers = [] } = object.metadata;
    if (finalizers.includes('orphan')) return;
    const metadata = { ...object.metadata, finalizers: [...finalizers, 'orphan'] };
    this.store({ ...object, metadata }, owners, object);
  }

  /** Whatever the object owns names it as an owner no more. */
  releaseDependents({ metadata: { uid } }: KubeObject): void {
    for (const { object, owners } of this.#all()) {
      const { ownerReferences = [], ...metadata } = object.metadata;
      const others = ownerReferences.filter(owner => owner.uid !== uid);
      if (others.length === ownerReferences.length) continue;
      this.store({ ...object, metadata: { ...metadata, ownerReferences: others } }, owners, object);
    }
  }

  #collectChildren(parent: KubeObject): void {
    const { uid } = parent.metadata;
    const owned = this.#all().filter(({ object }) =>
      object.metadata.ownerReferences?.some(owner => owner.uid === uid),
    );
    if (owned.length === 0) return;
    const living = new Set(this.#all().map(({ object }) => object.metadata.uid));
    for (const child of owned)
      if (!child.object.metadata.ownerReferences?.some(owner => living.has(owner.uid)))
        this.beginDeletion(child, undefined);
  }

  #all(): Stored[] {
    return [...this.#objects.values()].flatMap(kind => [...kind.values()]);
  }

  #keep(stored: Stored): void {
    const { object } = stored;
    const kind = this.#objects.get(kindOf(object)) ?? new Map<string, Stored>();
    this.#objects.set(kindOf(object), kind);
    kind.set(nameOf(object), stored);
  }

  #announce(change: Change): void {
    if (this.options.isShared === true) return;
    this.changes.push(change);
    for (const listener of this.listeners) listener(change);
  }
}

interface Updated {
  readonly owners: Ownership;
  readonly manager: string;
}

const kindOf = ({ apiVersion, kind }: KindRef): string => `${apiVersion}/${kind}`;
const keyOf = ({ namespace = '', name }: ObjectRef): string => `${namespace}/${name}`;

/** The error that an apiserver with this status and reason would lead to; for FakeKube.intercept. */
export function fault(code: number, reason: string, message = ''): KubeError {
  const retry =
    code === 409 && reason !== 'AlreadyExists' ? 'now' : code === 0 || code >= 429 ? 'later' : 'never';
  return new KubeError({ code, reason, message: `fake apiserver: ${code} ${reason} ${message}`, retry });
}

export const nameOf = (object: KubeObject): string =>
  `${object.metadata.namespace ?? ''}/${object.metadata.name}`;

export function refOf(object: WritableObject): ObjectRef {
  const { name, namespace, generateName = '' } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, name: name ?? generateName, namespace };
}

export function isOfKind(object: KubeObject, kind: KindRef): boolean {
  return object.kind === kind.kind && object.apiVersion === kind.apiVersion;
}

export function selects(
  object: KubeObject,
  by: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
): boolean {
  return (
    (by.namespace === undefined || object.metadata.namespace === by.namespace) &&
    matchesLabels(object.metadata.labels ?? {}, by.labelSelector) &&
    matchesFields(object as Json, by.fieldSelector)
  );
}

/** What counts for metadata.generation: all but metadata and status. */
function desiredPart(object: KubeObject): Json {
  return Object.fromEntries(
    Object.entries(object).filter(([field]) => field !== 'metadata' && field !== 'status'),
  );
}
