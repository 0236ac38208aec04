import type { KubeObject, ObjectRef, KubeClient, WatchEvent } from './port.ts';

/** The part of a coordination.k8s.io/v1 Lease that elections use. */
export interface LeaseRecord {
  /** Empty when nobody holds it. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** RFC 3339 with six decimals, as it is stored. For users: clocks differ, so nothing is computed from it. */
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  /** How often it has changed hands. */
  readonly transitions: number;
}

export interface StoredLease {
  readonly record: LeaseRecord;
  /** The Lease as it was read, so that a write keeps the labels and fields that are not ours. */
  readonly object: KubeObject;
}

/** metav1.MicroTime: the apiserver refuses a Lease whose times have fewer than six decimals. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}

/** Reads a Lease. Absent fields read as nobody, zero seconds, no time. */
export function readLease(object: KubeObject): StoredLease {
  const spec =
    typeof object['spec'] === 'object' && object['spec'] !== null
      ? (object['spec'] as Record<string, unknown>)
      : {};
  const text = (field: string): string | undefined =>
    typeof spec[field] === 'string' ? spec[field] : undefined;
  const number = (field: string): number => (typeof spec[field] === 'number' ? spec[field] : 0);
  return {
    object,
    record: {
      holder: text('holderIdentity') ?? '',
      durationSeconds: number('leaseDurationSeconds'),
      acquireTime: text('acquireTime'),
      renewTime: text('renewTime'),
      transitions: number('leaseTransitions'),
    },
  };
}

/** The Lease to write for a record: over what was read, guarded by its resourceVersion, or a new one. */
export function leaseObject(ref: ObjectRef, record: LeaseRecord, former?: StoredLease): KubeObject {
  const spec = {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseTransitions: record.transitions,
  };
  const { apiVersion, kind, name, namespace } = ref;
  if (former === undefined) {
    return { apiVersion, kind, metadata: namespace === undefined ? { name } : { name, namespace }, spec };
  }
  return { ...former.object, spec: { ...(former.object['spec'] as object | undefined), ...spec } };
}

/** The apiserver is asked to end the watch after a random time within these seconds, as it is of every other watch. */
const WATCH_SECONDS = { min: 300, max: 600 };

export interface LeaseWatch {
  readonly client: Pick<KubeClient, 'watch'>;
  readonly ref: ObjectRef;
  /** What was last read of it. */
  readonly from: StoredLease;
  readonly idleTimeoutMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** For how many milliseconds from now the Lease may not be taken, if it does not change again; called with it as it is now. */
  readonly heldForMs: (lease: StoredLease) => number;
}

/**
 * Resolves to true when the Lease may be taken: `heldForMs` says so, or is over. To false when nothing shows any more whether it is
 * renewed: it is gone, the signal fired, or the apiserver has ended the watch.
 * @throws KubeError when there can be no watch, or it breaks
 */
export async function watchLease(watch: LeaseWatch): Promise<boolean> {
  const expired = new AbortController();
  const signal = AbortSignal.any([watch.signal, expired.signal]);
  const expire = (lease: StoredLease): NodeJS.Timeout =>
    setTimeout(() => expired.abort(), Math.max(0, watch.heldForMs(lease)));
  let expiry = expire(watch.from);
  try {
    for await (const { type, object } of open(watch, signal)) {
      if (type === 'DELETED' || type === 'ERROR') return false;
      if (type === 'BOOKMARK') continue;
      clearTimeout(expiry);
      const lease = readLease(object);
      if (watch.heldForMs(lease) <= 0) return true;
      expiry = expire(lease);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(expiry);
  }
  return expired.signal.aborted;
}

function open(
  { client, ref, from, idleTimeoutMs }: LeaseWatch,
  signal: AbortSignal,
): AsyncIterable<WatchEvent> {
  const { apiVersion, kind, namespace, name } = ref;
  const { min, max } = WATCH_SECONDS;
  return client.watch(
    { apiVersion, kind },
    {
      namespace,
      // Only so may a role that names the Lease allow it (Kubernetes documentation, "Using RBAC Authorization").
      fieldSelector: `metadata.name=${name}`,
      resourceVersion: from.object.metadata.resourceVersion ?? '',
      timeoutSeconds: Math.round(min + Math.random() * (max - min)),
      idleTimeoutMs,
      signal,
    },
  );
}
