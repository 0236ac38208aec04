/**
 * The Kubernetes port: the small interfaces that activities and the watcher depend on, in our own types.
 *
 * Objects travel as the JSON that the apiserver sent. Nothing is decoded into generated models, because those
 * drop every field that they do not know, and a user's pod template must come through untouched.
 */

/** A kind of object, named the way manifests name it. */
export interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** One object by name. `namespace` is required for namespaced kinds and left out for the others. */
export interface ObjectRef extends KindRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** metav1.ObjectMeta, as far as this project reads it; other fields pass through. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  /** Opaque. Compared for equality only. */
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

/** Any object that the apiserver returned. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/**
 * The least that an object to be written must have. Writing calls are generic over it, so that both object
 * literals and the interfaces of src/api and src/objects can be passed without a cast.
 */
export interface WritableObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name?: string | undefined;
    readonly generateName?: string | undefined;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
  };
}

export interface CallOptions {
  /** Cancels the call; it then rejects with a KubeError of reason `Aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Deadline of the whole call in milliseconds, retries and the waits between them included. */
  readonly timeoutMs?: number | undefined;
}

export interface ListOptions extends CallOptions {
  /** Only `metadata` of each object is sent and kept (PartialObjectMetadata): for what must not be in memory, or is not needed. */
  readonly metadataOnly?: boolean | undefined;
  /** One namespace; every namespace when left out. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Only the first page is read, of so many items: of a collection that is only asked whether it is small. */
  readonly atMost?: number | undefined;
  /** Called on each item as its page arrives, so that a caller who keeps little never holds the whole list. */
  readonly slim?: ((object: KubeObject) => KubeObject) | undefined;
}

export interface ObjectList {
  readonly items: KubeObject[];
  /** Where a watch continues from. */
  readonly resourceVersion: string;
  /** There are more than `atMost`. */
  readonly isPartial?: true;
}

export interface WriteOptions extends CallOptions {
  /** Validate and answer, but do not store. */
  readonly dryRun?: boolean | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly subresource?: 'status' | undefined;
  /** Take fields over from other managers; true when left out. With false a clash is a Conflict error. */
  readonly force?: boolean | undefined;
}

export interface PatchOptions extends WriteOptions {
  readonly type: 'merge' | 'json';
  readonly subresource?: string | undefined;
}

export interface ReplaceOptions extends WriteOptions {
  readonly subresource?: string | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this incarnation of the object: another uid is a Conflict error. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion: string;
  /** As of a list. */
  readonly metadataOnly?: boolean | undefined;
  /** After this many seconds the apiserver ends the watch by itself; one that does not has it ended here, `idleTimeoutMs` later. */
  readonly timeoutSeconds: number;
  /** A watch that brings no whole event for this many milliseconds is taken for dead (bookmarks come once a minute). */
  readonly idleTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called once the apiserver has accepted the watch, before the first event. */
  readonly onOpen?: (() => void) | undefined;
}

/** `ERROR` carries a metav1.Status, `BOOKMARK` an object with nothing but a resourceVersion. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject;
}

/** Whatever goes wrong between here and the apiserver's storage is a KubeError (errors.ts). */
export interface KubeClient {
  /** The object, or undefined when there is none. */
  get(ref: ObjectRef, options?: CallOptions): Promise<KubeObject | undefined>;
  /** Every object, read in pages; items carry apiVersion and kind. */
  list(kind: KindRef, options?: ListOptions): Promise<ObjectList>;
  /** AlreadyExists when the name is taken. Not repeated when it is unknown whether it took effect. */
  create<T extends WritableObject>(object: T, options?: WriteOptions): Promise<KubeObject>;
  /** Server-side apply as field manager `etcd-operator`: makes the object when there is none. */
  apply<T extends WritableObject>(object: T, options?: ApplyOptions): Promise<KubeObject>;
  /** `merge` is RFC 7386, `json` RFC 6902. NotFound when there is no such object. */
  patch(ref: ObjectRef, patch: unknown, options: PatchOptions): Promise<KubeObject>;
  /** Conflict when metadata.resourceVersion is not the stored one. */
  replace<T extends WritableObject>(object: T, options?: ReplaceOptions): Promise<KubeObject>;
  /** Resolves when the deletion is accepted (finalizers and grace periods may keep the object), or it was gone. */
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  /** One watch, until it ends; the reflector is what follows a kind through failures. */
  watch(kind: KindRef, options: WatchOptions): AsyncIterable<WatchEvent>;
}

/** What this folder needs of a logger: constant messages with fields. pino's logger fits through an adapter. */
export interface KubeLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** A logger that says nothing. */
export const silentLogger: KubeLogger = { debug: () => {}, info: () => {}, warn: () => {} };
