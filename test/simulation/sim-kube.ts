/**
 * An apiserver in memory that is quick enough for a simulation: what is stored is never changed in place and handed out
 * without a copy. Defaults of our kinds, preconditions, conflicts, generations, finalizers, graceful deletion of pods, the protection of claims
 * in use and the collection of what a resource owned are as in Kubernetes; field ownership is not kept. One namespace.
 */
import { KubeError } from '../../src/kube/errors.ts';
import { withCrdDefaults } from './crd-defaults.ts';
import type { KindRef, KubeClient, KubeObject, ObjectRef, WritableObject } from '../../src/kube/port.ts';

export const NAMESPACE = 'shop';
export const PROTECTION = 'kubernetes.io/pvc-protection';

/** Told of what the operator does, before it is stored; of a status after that. */
export interface Audit {
  created(object: KubeObject): void;
  deleted(object: KubeObject): void;
  patched(before: KubeObject, after: KubeObject): void;
  /** A status is written. */
  told(before: KubeObject | undefined, after: KubeObject): void;
}

interface Operation {
  readonly op: 'test' | 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

export class SimKube {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  /** Kinds of others that this Kubernetes serves. */
  readonly isServed = new Set(['Certificate']);
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  #revision = 1;
  #uids = 0;
  /** Counts writes: whoever watches has news when it moved. */
  writes = 0;
  /** Calls that are refused, such as `create Pod`, and in which words: a quota, or a role that somebody edited. */
  readonly refuses = new Map<string, string>();
  /** Somebody who left no subresource is listed as an owner of the status beside its only writer. */
  isStatusCoOwned = false;
  /** Lists of these kinds are answered from a cache that has heard of nothing since. */
  readonly #frozen = new Map<string, readonly KubeObject[]>();

  constructor(now: () => number) {
    this.now = now;
  }

  /** The stored object itself: not to be changed. */
  peek(kind: string, name: string): KubeObject | undefined {
    return this.#objects.get(kind)?.get(name);
  }

  all(kind: string): KubeObject[] {
    return [...(this.#objects.get(kind)?.values() ?? [])];
  }

  create(given: WritableObject): KubeObject {
    const object = withCrdDefaults(plain(given) as KubeObject);
    const { kind, metadata } = object;
    if (this.peek(kind, metadata.name) !== undefined) throw fault(409, 'AlreadyExists', metadata.name);
    this.#uids += 1;
    metadata.uid = `${this.#uids.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
    metadata.creationTimestamp = new Date(this.now()).toISOString();
    metadata.generation = 1;
    if (kind === 'PersistentVolumeClaim') metadata.finalizers = [PROTECTION];
    return this.#store(object);
  }

  /** Merges a patch (RFC 7386) into an object, or into its status alone. */
  merge(kind: string, name: string, patch: object, only?: 'status'): KubeObject {
    const before = this.peek(kind, name);
    if (before === undefined) throw fault(404, 'NotFound', name);
    const { metadata, ...rest } = plain(patch) as KubeObject;
    checkPreconditions(before, metadata ?? {});
    if (only === 'status') {
      return this.#replace(before, { ...before, status: mergePatch(before['status'], rest['status']) });
    }
    const { uid: _, resourceVersion: __, ...named } = metadata ?? {};
    const after = mergePatch(before, { ...rest, metadata: named }) as KubeObject;
    if (before['status'] !== undefined) after['status'] = before['status'];
    return this.#replace(before, withCrdDefaults(after));
  }

  /**
   * Replaces an object as a client does that read it, and writes back what it knows of it: fields that are left out are gone, the
   * status is not touched, and neither is what only the apiserver sets.
   */
  put(given: KubeObject): KubeObject {
    const before = this.peek(given.kind, given.metadata.name);
    if (before === undefined) throw fault(404, 'NotFound', given.metadata.name);
    const { resourceVersion } = given.metadata;
    checkPreconditions(before, { resourceVersion });
    const after = plain(given) as KubeObject;
    const { uid, creationTimestamp, generation, deletionTimestamp } = before.metadata;
    const kept = {
      uid,
      creationTimestamp,
      generation,
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    };
    const metadata = { ...after.metadata, ...kept } as KubeObject['metadata'];
    return this.#replace(before, withCrdDefaults({ ...after, metadata, status: before['status'] }));
  }

  /**
   * From now on lists of these kinds are as they are now. A list without a resource version is the most recent one (Kubernetes, "Resource
   * versions"): what answers so is an apiserver that lost its etcd, or an old one behind a load balancer (kubernetes 59848).
   */
  freezeLists(kinds: readonly string[]): void {
    for (const kind of kinds) this.#frozen.set(kind, this.all(kind));
  }

  thawLists(): void {
    this.#frozen.clear();
  }

  /** Replaces the status, as an update of it does, and server-side apply by its only owner. */
  applyStatus(kind: string, given: WritableObject): KubeObject {
    const before = this.peek(kind, given.metadata.name ?? '');
    if (before === undefined) throw fault(404, 'NotFound', given.metadata.name ?? '');
    checkPreconditions(before, given.metadata);
    return this.#replace(before, { ...before, status: plain((given as { status?: unknown }).status) });
  }

  /** Changes an object as another party would, e.g. a kubelet its pod's status. */
  change(object: KubeObject, fields: Partial<KubeObject>): KubeObject {
    const before = this.peek(object.kind, object.metadata.name);
    if (before?.metadata.uid !== object.metadata.uid || before === undefined) return object;
    return this.#replace(before, { ...before, ...fields });
  }

  /** Begins a deletion, and ends it too when nothing holds the object. */
  delete(kind: string, name: string, preconditions: { readonly uid?: string | undefined } = {}): void {
    const found = this.peek(kind, name);
    if (found === undefined) return;
    checkPreconditions(found, preconditions);
    const held = kind === 'Pod' || (found.metadata.finalizers ?? []).length > 0;
    if (!held) this.remove(found);
    else if (found.metadata.deletionTimestamp === undefined) {
      const deletionTimestamp = new Date(this.now()).toISOString();
      this.#store({ ...found, metadata: { ...found.metadata, deletionTimestamp } });
    }
  }

  remove(object: KubeObject): void {
    const { kind, metadata } = object;
    if (this.peek(kind, metadata.name)?.metadata.uid !== metadata.uid) return;
    this.#objects.get(kind)?.delete(metadata.name);
    this.writes += 1;
    for (const child of ['Pod', 'Service', 'PodDisruptionBudget', 'Secret', 'Certificate'].flatMap(owned =>
      this.all(owned),
    )) {
      if (child.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true)
        this.delete(child.kind, child.metadata.name);
    }
  }

  /**
   * What an apply leaves out stays where somebody else owns it, too (Kubernetes, "Server-Side Apply"); a member without the health
   * that its schema requires is then refused.
   */
  #withoutRemovals(given: WritableObject): WritableObject {
    const before = this.peek(given.kind, given.metadata.name ?? '');
    const status = mergePatch(before?.['status'], plain((given as { status?: unknown }).status));
    return { ...given, status } as WritableObject;
  }

  #replace(before: KubeObject, after: KubeObject): KubeObject {
    if (JSON.stringify(before) === JSON.stringify(after)) return before;
    if (JSON.stringify(before['spec']) !== JSON.stringify(after['spec'])) {
      after.metadata = { ...after.metadata, generation: (before.metadata.generation ?? 1) + 1 };
    }
    const { deletionTimestamp, finalizers = [] } = after.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0 && after.kind !== 'Pod') {
      this.remove(before);
      return after;
    }
    return this.#store(after);
  }

  #store(object: KubeObject): KubeObject {
    this.#revision += 1;
    this.writes += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
    let kinds = this.#objects.get(object.kind);
    if (kinds === undefined) this.#objects.set(object.kind, (kinds = new Map()));
    kinds.set(object.metadata.name, stored);
    return stored;
  }

  /** A JSON patch (RFC 6902) of what the operator patches so. */
  #operate(
    { kind, name }: ObjectRef,
    { patch, audit }: { readonly patch: readonly Operation[]; readonly audit: Audit },
  ): KubeObject {
    const before = this.peek(kind, name);
    if (before === undefined) throw fault(404, 'NotFound', name);
    const after = plain(before) as KubeObject;
    for (const operation of patch) {
      const keys = operation.path
        .split('/')
        .slice(1)
        .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'));
      const last = keys.pop() ?? '';
      const parent = keys.reduce<Record<string, unknown>>(
        (at, key) => (at[key] ??= {}) as Record<string, unknown>,
        after as unknown as Record<string, unknown>,
      );
      if (operation.op === 'remove') delete parent[last];
      else if (operation.op !== 'test') parent[last] = operation.value;
      else if (parent[last] !== operation.value)
        throw fault(409, 'Conflict', `${name}: ${operation.path} is another`);
    }
    audit.patched(before, after);
    return this.#replace(before, after);
  }

  /** The port as the operator uses it. Each call takes effect at once: `audit` hears of it first. */
  client(audit: Audit): KubeClient {
    const unused = (): never => {
      throw new RangeError('not simulated');
    };
    return {
      get: async (ref: ObjectRef) => this.peek(ref.kind, ref.name),
      list: async (kind: KindRef, { labelSelector, slim = (object: KubeObject) => object } = {}) => {
        if (kind.kind === 'Certificate' && !this.isServed.has(kind.kind)) throw fault(404, 'NotFound');
        const [key = '', value] = labelSelector?.split('=') ?? [];
        // An apiserver lists by name.
        const items = (this.#frozen.get(kind.kind) ?? this.all(kind.kind))
          .filter(({ metadata }) => labelSelector === undefined || metadata.labels?.[key] === value)
          .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
        return { items: items.map(slim), resourceVersion: String(this.#revision) };
      },
      create: async object => {
        const taken = this.peek(object.kind, object.metadata.name ?? '') !== undefined;
        if (!taken) audit.created(plain(object) as KubeObject);
        return this.create(object);
      },
      apply: async (object, options = {}) => {
        if (options.subresource === 'status')
          return this.applyStatus(object.kind, this.isStatusCoOwned ? this.#withoutRemovals(object) : object);
        if (this.peek(object.kind, object.metadata.name ?? '') === undefined)
          throw fault(409, 'Conflict', 'uid mismatch: no existing object was found');
        return this.merge(object.kind, object.metadata.name ?? '', object);
      },
      patch: async (ref, patch, { subresource }) => {
        if (Array.isArray(patch)) return this.#operate(ref, { patch: patch as readonly Operation[], audit });
        const before = this.peek(ref.kind, ref.name);
        const only = subresource === 'status' ? 'status' : undefined;
        const after = this.merge(ref.kind, ref.name, patch as object, only);
        if (only !== undefined) audit.told(before, after);
        return after;
      },
      replace: async (object, { subresource } = {}) => {
        if (subresource !== 'status') return unused();
        const before = this.peek(object.kind, object.metadata.name ?? '');
        const after = this.applyStatus(object.kind, object);
        audit.told(before, after);
        return after;
      },
      delete: async (ref, { uid, gracePeriodSeconds } = {}) => {
        const found = this.peek(ref.kind, ref.name);
        const isIt = found !== undefined && (uid === undefined || uid === found.metadata.uid);
        if (isIt) audit.deleted(found);
        this.delete(ref.kind, ref.name, { uid });
        if (isIt && gracePeriodSeconds === 0) this.remove(found);
      },
      watch: unused,
    };
  }
}

/** The error that an apiserver with this status and reason leads to. */
export function fault(code: number, reason: string, message = ''): KubeError {
  const retry =
    code === 409 && reason !== 'AlreadyExists' ? 'now' : code === 0 || code >= 429 ? 'later' : 'never';
  return new KubeError({ code, reason, message: `simulated apiserver: ${code} ${reason} ${message}`, retry });
}

function checkPreconditions(
  current: KubeObject,
  wanted: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): void {
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (wanted[field] !== undefined && wanted[field] !== current.metadata[field])
      throw fault(409, 'Conflict', `${current.metadata.name}: its ${field} is another`);
  }
}

/** As it comes out of the wire: absent fields are absent. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}
