/** Follows one Lease that somebody else holds, without asking for it again and again. */
import { readLease, type StoredLease } from './lease.ts';
import type { KubeClient, ObjectRef, WatchEvent } from './port.ts';

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
 * Resolves to true when the Lease may be taken: `heldForMs` says so, or is over. To false when nothing tells any more whether it is
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
