import { KubeError } from '../../../src/kube/errors.ts';
import type { KindRef, KubeObject, ListOptions, ObjectRef, WritableObject } from '../../../src/kube/port.ts';
import { ResourcePaths } from '../../../src/kube/resources.ts';
import { cloneJson, type Json, type Ownership, sameJson } from './fields.ts';
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
}

/** The objects, their revisions and who hears of them: the etcd and garbage collector behind the fake. */
export class FakeStorage {
  readonly options: StorageOptions;
  readonly changes: Change[] = [];
  readonly listeners = new Set<(change: Change) => void>();
  revision = 1;
  /** Watches from before this revision are answered 410. */
  compacted = 0;
  readonly #objects = new Map<string, Stored>();
  readonly #paths = new ResourcePaths();
  #uids = 0;

  constructor(options: StorageOptions) {
    this.options = options;
  }

  find(ref: ObjectRef): Stored | undefined {
    return this.#objects.get(this.#paths.object(ref));
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
    if (kind !== undefined) this.#paths.collection(kind, by.namespace);
    return [...this.#objects.values()]
      .map(stored => stored.object)
      .filter(object => (kind === undefined || isOfKind(object, kind)) && selects(object, by))
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  /** Writes an object, unless it equals the stored one; counts its generation; removes it when nothing holds it. */
  store(object: KubeObject, owners: Ownership, before: KubeObject | undefined): KubeObject {
    const key = this.#paths.object(refOf(object));
    if (before !== undefined && sameJson(before, object)) {
      this.#objects.set(key, { object: before, owners });
      return cloneJson(before);
    }
    this.revision += 1;
    object.metadata.resourceVersion = String(this.revision);
    if (before !== undefined && !sameJson(desiredPart(before), desiredPart(object))) {
      object.metadata.generation = (before.metadata.generation ?? 1) + 1;
    }
    const stored = cloneJson(object);
    this.#objects.set(key, { object: stored, owners });
    this.#announce({ revision: this.revision, before, after: stored });
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    const held = finalizers.length > 0 || this.options.gracefulKinds.includes(object.kind);
    if (deletionTimestamp !== undefined && !held) this.remove(stored);
    return cloneJson(object);
  }

  remove(object: KubeObject): void {
    this.#objects.delete(this.#paths.object(refOf(object)));
    this.revision += 1;
    this.#announce({ revision: this.revision, before: cloneJson(object), after: undefined });
    if (this.options.collectGarbage) this.#collectChildren(object);
  }

  newUid(): string {
    this.#uids += 1;
    return `00000000-0000-4000-8000-${this.#uids.toString(16).padStart(12, '0')}`;
  }

  timestamp(): string {
    return this.options
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }

  /** Starts the deletion of an object, and ends it too when neither a finalizer nor a grace period holds it. */
  beginDeletion(found: Stored, gracePeriodSeconds: number | undefined): void {
    const object = cloneJson(found.object);
    const graceful = this.options.gracefulKinds.includes(object.kind) && gracePeriodSeconds !== 0;
    if (!graceful && (object.metadata.finalizers ?? []).length === 0) {
      this.remove(found.object);
    } else if (object.metadata.deletionTimestamp === undefined) {
      object.metadata.deletionTimestamp = this.timestamp();
      object.metadata.deletionGracePeriodSeconds = graceful ? (gracePeriodSeconds ?? 30) : 0;
      this.store(object, found.owners, found.object);
    }
  }

  #collectChildren(parent: KubeObject): void {
    const living = new Set([...this.#objects.values()].map(stored => stored.object.metadata.uid));
    const orphans = [...this.#objects.values()].filter(({ object }) => {
      const owners = object.metadata.ownerReferences ?? [];
      const wasOwned = owners.some(owner => owner.uid === parent.metadata.uid);
      return wasOwned && !owners.some(owner => living.has(owner.uid));
    });
    for (const orphan of orphans) this.beginDeletion(orphan, undefined);
  }

  #announce(change: Change): void {
    this.changes.push(change);
    for (const listener of this.listeners) listener(change);
  }
}

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
