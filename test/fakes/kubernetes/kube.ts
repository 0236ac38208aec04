import { cloneJson } from './fields.ts';
import type { KubeClient, KubeObject, ObjectRef, WritableObject } from '../../../src/kube/port.ts';
import { FakeStorage, fault, refOf } from './storage.ts';
import { metadataOf, watchStorage } from './watch.ts';
import { applyObject, checkPreconditions, createObject, patchObject, updateObject } from './writes.ts';

export { fault } from './storage.ts';

/** A call as the rules of `intercept` see it, before it is carried out. */
export interface FakeCall {
  readonly verb: 'get' | 'list' | 'create' | 'apply' | 'patch' | 'replace' | 'delete' | 'watch';
  /** The field manager that calls. */
  readonly manager: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  /** For `raw` the path. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** Nothing is changed by it. */
  readonly dryRun: boolean;
  /** The object, patch or delete options that were sent. */
  readonly body: unknown;
}

export interface FakeKubeOptions {
  readonly now?: () => Date;
  /** Kinds that stay with a deletionTimestamp until `finishDeletion`, the way a kubelet makes Pods do. */
  readonly gracefulKinds?: readonly string[];
  /** Delete objects once every owner is gone, as the garbage collector does. Default true. */
  readonly collectGarbage?: boolean;
  /** What admission makes of an object before it is stored. */
  readonly complete?: (object: KubeObject, isNew: boolean) => KubeObject;
}

/**
 * An apiserver in memory, behind the port: resourceVersions, uids, AlreadyExists, Conflict, preconditions,
 * server-side apply with field ownership, finalizers, a separate status, selectors, watches, owner garbage
 * collection. It keeps copies; nothing that a caller holds is ever shared. It checks neither schemas nor RBAC.
 */
export class FakeKube implements KubeClient {
  /** Every call in order. */
  readonly calls: FakeCall[] = [];
  readonly #storage: FakeStorage;
  readonly #rules = new Set<(call: FakeCall) => void | Promise<void>>();
  readonly #self: KubeClient = this.as('etcd-operator');
  readonly get: KubeClient['get'] = this.#self.get;
  readonly list: KubeClient['list'] = this.#self.list;
  readonly create: KubeClient['create'] = this.#self.create;
  readonly apply: KubeClient['apply'] = this.#self.apply;
  readonly patch: KubeClient['patch'] = this.#self.patch;
  readonly replace: KubeClient['replace'] = this.#self.replace;
  readonly delete: KubeClient['delete'] = this.#self.delete;
  readonly watch: KubeClient['watch'] = this.#self.watch;

  /** What time it is for this apiserver, as it writes times. */
  timestamp(): string {
    return this.#storage.timestamp();
  }

  constructor(options: FakeKubeOptions = {}) {
    this.#storage = new FakeStorage({
      now: () => new Date(),
      gracefulKinds: [],
      collectGarbage: true,
      ...options,
    });
  }

  /** The same world through another field manager. */
  as(manager: string): KubeClient {
    const writer = (): { storage: FakeStorage; manager: string } => ({ storage: this.#storage, manager });
    const enter = (verb: FakeCall['verb'], at: Partial<ObjectRef>, options: CallDetails, body?: unknown) =>
      this.#enter(
        {
          verb,
          manager,
          kind: at.kind ?? '',
          namespace: at.namespace,
          name: at.name,
          subresource: options.subresource,
          dryRun: options.dryRun === true,
          body: cloneJson(body),
        },
        options.signal,
      );
    return {
      get: async (ref, options = {}) => {
        await enter('get', ref, options);
        return this.peek(ref);
      },
      list: async (kind, options = {}) => {
        await enter('list', { ...kind, namespace: options.namespace }, options);
        const { slim = object => object, metadataOnly = false } = options;
        const seen = (object: KubeObject) => (metadataOnly ? metadataOf(object) : cloneJson(object));
        const all = this.#storage.select(kind, options);
        const items = all.slice(0, options.atMost).map(object => slim(seen(object)));
        const isPartial = items.length < all.length;
        return { items, resourceVersion: String(this.#storage.revision), ...(isPartial && { isPartial }) };
      },
      create: async (object, options = {}) => {
        await enter('create', refOf(object), options, object);
        return createObject(writer(), object, options);
      },
      apply: async (object, options = {}) => {
        await enter('apply', refOf(object), options, object);
        return applyObject(writer(), object, options);
      },
      patch: async (ref, patch, options) => {
        await enter('patch', ref, options, patch);
        return patchObject(writer(), ref, { value: patch, options });
      },
      replace: async (object, options = {}) => {
        await enter('replace', refOf(object), options, object);
        return updateObject(writer(), cloneJson(object) as unknown as KubeObject, options);
      },
      delete: async (ref, options = {}) => {
        const { signal, ...body } = options;
        await enter('delete', ref, { signal }, body);
        const found = this.#storage.find(ref);
        if (found === undefined) return;
        checkPreconditions(found.object, options);
        if (options.propagation === 'Orphan') this.#storage.holdAsOrphan(found);
        this.#storage.beginDeletion(this.#storage.require(ref), options.gracePeriodSeconds);
      },
      watch: (kind, options) =>
        this.#watch(() => enter('watch', { ...kind, namespace: options.namespace }, options), kind, options),
    };
  }

  /** Stores objects as they are, status and deletionTimestamp included; fills in what every stored object has. */
  seed<T extends WritableObject>(...objects: readonly T[]): KubeObject[] {
    return objects.map(given => {
      const object = cloneJson(given) as unknown as KubeObject;
      object.metadata.uid ??= this.#storage.newUid();
      object.metadata.creationTimestamp ??= this.#storage.timestamp();
      object.metadata.generation ??= 1;
      const before = this.#storage.find(refOf(object));
      return this.#storage.store(object, before?.owners ?? new Map(), before?.object);
    });
  }

  /** What is stored, without a call. */
  peek(ref: ObjectRef): KubeObject | undefined {
    return cloneJson(this.#storage.find(ref)?.object);
  }

  /** Every stored object of a kind, ordered by namespace and name, without a call. */
  all(kind: string, namespace?: string): KubeObject[] {
    const objects = this.#storage.select(undefined, { namespace }).filter(object => object.kind === kind);
    return cloneJson(objects);
  }

  /** Changes a stored object as another party would, e.g. a kubelet its pod's status. */
  mutate(ref: ObjectRef, change: (object: KubeObject) => void): KubeObject {
    const stored = this.#storage.require(ref);
    const object = cloneJson(stored.object);
    change(object);
    return this.#storage.store(object, stored.owners, stored.object);
  }

  /** Removes an object that waits for its grace period or its finalizers. */
  finishDeletion(ref: ObjectRef): void {
    this.#storage.remove(this.#storage.require(ref).object);
  }

  /** What the garbage collector does about an object that was deleted with `--cascade=orphan`: it takes off the owner, then its finalizer. */
  orphanDependents(ref: ObjectRef): void {
    const { object, owners } = this.#storage.require(ref);
    this.#storage.releaseDependents(object);
    const { finalizers = [], ...metadata } = object.metadata;
    const left = finalizers.filter(finalizer => finalizer !== 'orphan');
    this.#storage.store({ ...object, metadata: { ...metadata, finalizers: left } }, owners, object);
  }

  /** `rule` runs before every call; what it throws (see `fault`) is the answer. Returns what removes it again. */
  intercept(rule: (call: FakeCall) => void | Promise<void>): () => void {
    this.#rules.add(rule);
    return () => this.#rules.delete(rule);
  }

  /** Watches from before now answer 410 from here on. */
  compact(): void {
    this.#storage.compacted = this.#storage.revision;
  }

  async #enter(call: FakeCall, signal: AbortSignal | undefined): Promise<void> {
    this.calls.push(call);
    for (const rule of this.#rules) await rule(call);
    if (signal?.aborted === true) throw fault(0, 'Aborted');
  }

  async *#watch(
    enter: () => Promise<void>,
    ...[kind, options]: Parameters<KubeClient['watch']>
  ): ReturnType<typeof watchStorage> {
    await enter();
    yield* watchStorage(this.#storage, kind, options);
  }
}

interface CallDetails {
  readonly dryRun?: boolean | undefined;
  readonly subresource?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}
