import { withQuery } from './calls.ts';
import { KubeError } from './errors.ts';
import type { KindRef, WatchEvent, WatchOptions } from './port.ts';
import { errorFromAbort, errorFromNetwork } from './status.ts';
import type { Transport } from './transport.ts';

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

/** Longer than any object that etcd stores (1.5 MiB by default), however it is escaped. */
const longestLine = 32 * 1024 * 1024;
const newline = 0x0a;

/**
 * The lines of a stream of bytes that say something; empty ones are skipped, as kubectl does. Cut where the bytes are, not where the chunks are: a character of several
 * bytes may lie across two chunks. What follows the last newline is dropped, since its event is not whole; the
 * next watch starts before it and brings it again.
 *
 * @throws KubeError BadResponse for a line without end.
 */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      parts.push(chunk.subarray(start, end));
      const line = Buffer.concat(parts).toString('utf8');
      if (line.trim() !== '') yield line;
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > longestLine) throw badEvent('a line of the watch is too long');
  }
}

/** @throws KubeError BadResponse for a line that is no watch event; its text is not quoted. */
function parseWatchEvent(line: string): WatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    throw badEvent('a line of the watch is not JSON');
  }
  if (!isWatchEvent(event)) throw badEvent('a line of the watch is not an event');
  return event;
}

const types: readonly unknown[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

function isWatchEvent(event: unknown): event is WatchEvent {
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) return false;
  const { type, object } = event;
  if (!types.includes(type) || typeof object !== 'object' || object === null) return false;
  if (type === 'ERROR') return true;
  return 'metadata' in object && typeof object.metadata === 'object' && object.metadata !== null;
}

/**
 * Passes a stream on and calls `onIdle` when it brings nothing for `idleMs`; the time that the consumer takes
 * does not count.
 */
async function* watchdog<T>(stream: AsyncIterable<T>, idleMs: number, onIdle: () => void): AsyncGenerator<T> {
  let timer = setTimeout(onIdle, idleMs);
  try {
    for await (const item of stream) {
      clearTimeout(timer);
      yield item;
      timer = setTimeout(onIdle, idleMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

function badEvent(message: string): KubeError {
  return new KubeError({ code: 0, reason: 'BadResponse', message, retry: 'later' });
}
