/**
 * The apiserver of test/fakes/kubernetes for a simulation: quick, because what is stored is never changed in place and handed out
 * without a copy. Beside it: defaults of our kinds, the protection of claims in use, lists from an old cache, calls that are refused, and
 * an audit of what the operator does. One namespace.
 */
import { knownResources } from '../../src/kube/resources.ts';
import type { KindRef, KubeClient, KubeObject, ObjectRef, WritableObject } from '../../src/kube/port.ts';
import { injected } from '../fakes/kubernetes/injected.ts';
import { FakeStorage, fault, refOf, selects } from '../fakes/kubernetes/storage.ts';
import { metadataOf } from '../fakes/kubernetes/watch.ts';
import {
  applyObject,
  checkPreconditions,
  createObject,
  fromWire,
  patchObject,
  updateObject,
  type Writer,
} from '../fakes/kubernetes/writes.ts';
import { withCrdDefaults } from './crd-defaults.ts';

export { fault } from '../fakes/kubernetes/storage.ts';

export const NAMESPACE = 'shop';
export const PROTECTION = 'kubernetes.io/pvc-protection';

/** The reference of a kind's objects, without a name. */
const KINDS: ReadonlyMap<string, Omit<ObjectRef, 'name'>> = new Map(
  knownResources.map(({ apiVersion, kind, namespaced }) => [
    kind,
    { apiVersion, kind, ...(namespaced && { namespace: NAMESPACE }) },
  ]),
);

/** Called with what the operator does, before it is stored; of a status after that. */
export interface Audit {
  created(object: KubeObject): void;
  deleted(object: KubeObject): void;
  patched(before: KubeObject, after: KubeObject): void;
  /** A status is written. */
  written(before: KubeObject | undefined, after: KubeObject): void;
}

export class SimKube {
  readonly #storage: FakeStorage;
  /** A client other than the operator. */
  readonly #others: Writer;
  /** Kinds of others that this Kubernetes serves. */
  readonly isServed = new Set(['Certificate']);
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls that are refused, such as `create Pod`, and in which words: a quota, or a role that somebody edited. */
  readonly refuses = new Map<string, string>();
  /** When each of these calls was refused first, in milliseconds since the epoch; of those that are not any more, nothing. */
  readonly #refusedSince = new Map<string, number>();
  /** A quota on the number of pods; undefined: none. */
  mostPods: number | undefined;
  /** Every pod that is made gets containers and defaults that nobody of this world asked for. */
  injects = false;
  /** Lists of these kinds are answered from a cache that has heard of nothing since. */
  readonly #frozen = new Map<string, readonly KubeObject[]>();

  constructor(now: () => number) {
    this.now = now;
    this.#storage = new FakeStorage({
      now: () => new Date(now()),
      gracefulKinds: ['Pod'],
      collectGarbage: true,
      isShared: true,
      keepsMilliseconds: true,
      complete: (object, isNew) => {
        const isClaim = isNew && object.kind === 'PersistentVolumeClaim';
        if (isClaim) object.metadata.finalizers = [PROTECTION];
        if (isNew && object.kind === 'Pod' && this.injects) return injected(object);
        return withCrdDefaults(object);
      },
    });
    this.#others = { storage: this.#storage, manager: 'others' };
  }

  /** Counts writes: watches have news when it moved. */
  get writes(): number {
    return this.#storage.revision;
  }

  /** Why a call such as `create Pod` is refused, in the words of the admission plugin; undefined when it is not. */
  refusalOf(what: string): string | undefined {
    const words = this.refuses.get(what);
    if (words !== undefined || what !== 'create Pod' || this.mostPods === undefined) return words;
    const used = this.all('Pod').filter(pod => !['Succeeded', 'Failed'].includes(phaseOf(pod))).length;
    if (used < this.mostPods) return undefined;
    return `exceeded quota: pods, requested: pods=1, used: pods=${used}, limited: pods=${this.mostPods}`;
  }

  /** Whether a call has been refused since then whatever exists, for which no deletion makes room. */
  isRefusedSince(what: string, since: number): boolean {
    return (this.#refusedSince.get(what) ?? Number.POSITIVE_INFINITY) < since;
  }

  /** After every tick. */
  noteRefusals(): void {
    for (const what of this.#refusedSince.keys())
      if (!this.refuses.has(what)) this.#refusedSince.delete(what);
    for (const what of this.refuses.keys())
      if (!this.#refusedSince.has(what)) this.#refusedSince.set(what, this.now());
  }

  /** The stored object itself: not to be changed. */
  peek(kind: string, name: string): KubeObject | undefined {
    const ref = KINDS.get(kind);
    return ref && this.#storage.find({ ...ref, name })?.object;
  }

  all(kind: string): KubeObject[] {
    const ref = KINDS.get(kind);
    return ref === undefined ? [] : this.#storage.ofKind(ref);
  }

  /** Makes an object as others do, with the status that it is given: of what they copied, with what an apiserver sets left out. */
  create(given: WritableObject): KubeObject {
    const object = fromWire(given) as KubeObject;
    const { resourceVersion: _, ...metadata } = object.metadata;
    const { namespace } = KINDS.get(object.kind) ?? {};
    const placed = { ...object, metadata: { ...metadata, ...(namespace !== undefined && { namespace }) } };
    const made = createObject(this.#others, placed, {});
    return object['status'] === undefined ? made : this.change(made, { status: object['status'] });
  }

  /** Merges a patch (RFC 7386) into an object. */
  merge(kind: string, name: string, value: object): KubeObject {
    const options = { type: 'merge' } as const;
    return patchObject(this.#others, this.#ref(kind, name), { value: fromWire(value), options });
  }

  /**
   * Replaces an object as a client does that read it, and writes back what it knows of it: fields that are left out are gone, the
   * status is not touched, and neither is what only the apiserver sets.
   */
  put(given: KubeObject): KubeObject {
    return updateObject(this.#others, fromWire(given) as KubeObject, {});
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

  /** Changes an object as another party would, e.g. a kubelet its pod's status. */
  change(object: KubeObject, fields: Partial<KubeObject>): KubeObject {
    const found = this.#storage.find(refOf(object));
    if (found?.object.metadata.uid !== object.metadata.uid || found === undefined) return object;
    return this.#storage.store({ ...found.object, ...fields }, found.owners, found.object);
  }

  /** Begins a deletion, and ends it too when nothing holds the object. */
  delete(kind: string, name: string): void {
    const ref = KINDS.get(kind);
    const found = ref && this.#storage.find({ ...ref, name });
    if (found !== undefined) this.#storage.beginDeletion(found, undefined);
  }

  /** `kubectl delete --cascade=orphan`: the garbage collector has yet to take the owner off what the object owns. */
  orphan(kind: string, name: string): void {
    const found = this.#storage.find(this.#ref(kind, name));
    if (found === undefined) return;
    this.#storage.holdAsOrphan(found);
    this.delete(kind, name);
  }

  /** The garbage collector takes the owner off, and then its finalizer. */
  orphanDependents(kind: string, name: string): void {
    const found = this.#storage.find(this.#ref(kind, name));
    if (found === undefined) return;
    this.#storage.releaseDependents(found.object);
    const { finalizers = [] } = found.object.metadata;
    if (finalizers.includes('orphan'))
      this.change(found.object, {
        metadata: { ...found.object.metadata, finalizers: finalizers.filter(each => each !== 'orphan') },
      });
  }

  remove(object: KubeObject): void {
    if (this.peek(object.kind, object.metadata.name)?.metadata.uid === object.metadata.uid)
      this.#storage.remove(object);
  }

  /** The port as the operator uses it. Each call takes effect at once: `audit` hears of it first. */
  client(audit: Audit): KubeClient {
    const storage = this.#storage;
    const writer: Writer = { storage, manager: 'etcd-operator' };
    const unused = (): never => {
      throw new RangeError('not simulated');
    };
    return {
      get: async ref => storage.find(ref)?.object,
      list: async (kind, options = {}) => ({
        items: this.#list(kind, options),
        resourceVersion: String(storage.revision),
      }),
      create: async (object, options = {}) => {
        // A dry run makes nothing.
        const isMade = options.dryRun !== true && storage.find(refOf(object)) === undefined;
        if (isMade) audit.created(fromWire(object) as KubeObject);
        return createObject(writer, fromWire(object) as WritableObject, options);
      },
      apply: async (object, options = {}) => applyObject(writer, object, options),
      patch: async (ref, given, options) => {
        const value = fromWire(given);
        if (options.dryRun === true) return patchObject(writer, ref, { value, options });
        const before = storage.find(ref)?.object;
        if (before !== undefined && Array.isArray(value)) {
          const after = patchObject(writer, ref, { value, options: { ...options, dryRun: true } });
          audit.patched(before, after);
        }
        const after = patchObject(writer, ref, { value, options });
        if (options.subresource === 'status') audit.written(before, after);
        return after;
      },
      replace: async (object, options = {}) => {
        if (options.subresource !== 'status') return unused();
        const before = storage.find(refOf(object))?.object;
        const after = updateObject(writer, fromWire(object) as KubeObject, options);
        audit.written(before, after);
        return after;
      },
      delete: async (ref, { uid, gracePeriodSeconds } = {}) => {
        const found = storage.find(ref);
        if (found === undefined) return;
        checkPreconditions(found.object, { uid });
        audit.deleted(found.object);
        storage.beginDeletion(found, gracePeriodSeconds);
      },
      watch: unused,
    };
  }

  /** An apiserver lists by name. */
  #list(kind: KindRef, options: NonNullable<Parameters<KubeClient['list']>[1]>): KubeObject[] {
    if (kind.kind === 'Certificate' && !this.isServed.has(kind.kind)) throw fault(404, 'NotFound');
    const { slim = object => object, metadataOnly = false } = options;
    const frozen = this.#frozen.get(kind.kind)?.filter(object => selects(object, options));
    const items = frozen?.toSorted(byName) ?? this.#storage.select(kind, options);
    return items.map(object => slim(metadataOnly ? metadataOf(object) : object));
  }

  #ref(kind: string, name: string): ObjectRef {
    const ref = KINDS.get(kind);
    if (ref === undefined) throw new RangeError(`${kind} is not known`);
    return { ...ref, name };
  }
}

const phaseOf = (pod: KubeObject): string =>
  ((pod['status'] ?? {}) as { readonly phase?: string }).phase ?? '';
const byName = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);
