import { withQuery } from './calls.ts';
import { KubeError } from './errors.ts';
import type { KindRef, WatchEvent, WatchOptions } from './port.ts';
import { errorFromAbort, errorFromNetwork } from './status.ts';
import type { Transport } from './transport.ts';
import { parseWatchEvent, splitLines, watchdog } from './watch-stream.ts';

/** Served by every apiserver for every kind (Kubernetes documentation, "Receiving resources as Tables", metadata-only fetches). */
const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/**
 * One watch of the collection at `base`, until it ends. Leaving the loop closes its connection.
 * @throws KubeError
 */
export async function* watchCollection(
  transport: Transport,
  { base, kind }: { readonly base: string; readonly kind: KindRef },
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds, idleTimeoutMs } = options;
  const selection = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
  const path = withQuery(base, { watch: true, allowWatchBookmarks: true, ...selection });
  const ended = new AbortController();
  const signal =
    options.signal === undefined ? ended.signal : AbortSignal.any([ended.signal, options.signal]);
  const giveUp = (): void => ended.abort(new DOMException('no data received in time', 'TimeoutError'));
  const opening = setTimeout(giveUp, idleTimeoutMs);
  // An apiserver, or what stands before it, may forget to end what it was asked to end.
  let isOverdue = false;
  const overdue = setTimeout(
    () => {
      isOverdue = true;
      giveUp();
    },
    timeoutSeconds * 1000 + idleTimeoutMs,
  );
  try {
    const accept = options.metadataOnly === true ? metadata : undefined;
    const stream = await transport
      .open({ method: 'GET', path, accept, signal })
      .finally(() => clearTimeout(opening));
    options.onOpen?.();
    // Leaving this loop, as a consumer does by leaving his, destroys the stream and closes its connection.
    for await (const line of watchdog(splitLines(stream), idleTimeoutMs, giveUp))
      yield named(parseWatchEvent(line), kind);
  } catch (error) {
    if (!isOverdue) throw watchError(error, { signal, path: base });
  } finally {
    clearTimeout(overdue);
  }
}

/** An event of metadata says that it is of this kind of metadata, not of the objects'. */
function named(event: WatchEvent, { apiVersion, kind }: KindRef): WatchEvent {
  if (event.object.kind !== 'PartialObjectMetadata') return event;
  return { ...event, object: { ...event.object, apiVersion, kind } };
}

/** What ended a watch: the caller, the idle timer, the network, or an answer that is none. */
function watchError(error: unknown, watch: { signal: AbortSignal; path: string }): KubeError {
  if (error instanceof KubeError) return error;
  const request = { method: 'WATCH', path: watch.path };
  return watch.signal.aborted ? errorFromAbort(request, watch.signal) : errorFromNetwork(request, error);
}
