import { applyBody, applyContentType, applyQuery, fieldManager } from './apply.ts';
import type { Credentials } from './credentials.ts';
import { isNotFound, KubeError } from './errors.ts';
import { parseObject, parsePage } from './json.ts';
import { bytesOfPage, type FetchPage, listInPages } from './list.ts';
import type * as port from './port.ts';
import { type Resource, ResourcePaths } from './resources.ts';
import { errorFromAbort, errorFromNetwork } from './status.ts';
import { type RetryPolicy, withRetries } from './retry.ts';
import type { ServerClock } from './server-clock.ts';
import { type HttpMethod, type Query, Transport, type TransportResponse } from './transport.ts';
import { parseWatchEvent, splitLines, watchdog } from './watch-stream.ts';

/** One finished call, for metrics: never names an object. */
export interface CallReport {
  readonly method: HttpMethod;
  readonly kind: string;
  /** The HTTP status, 0 without an answer. */
  readonly code: number;
  readonly durationMs: number;
}

export interface ClientOptions {
  readonly credentials: Credentials;
  readonly fieldManager?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly logger?: port.KubeLogger | undefined;
  /** Kinds beyond those of resources.ts. */
  readonly resources?: readonly Resource[] | undefined;
  /** Connections shared by all calls; 12 by default. Every watch has one more. */
  readonly connections?: number | undefined;
  /** Deadline of a call that names none; 20 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Limit of one attempt; 10 s by default, so that a dead connection leaves time for a second attempt. */
  readonly attemptTimeoutMs?: number | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** Items in a page of a list; 500 by default. */
  readonly pageSize?: number | undefined;
  readonly report?: ((call: CallReport) => void) | undefined;
  /** Learns the API server's time from its answers. */
  readonly clock?: ServerClock | undefined;
}

/** A client that must be closed, or its connections keep the process alive. */
export interface ClosableKubeClient extends port.KubeClient {
  close(): Promise<void>;
}

/** A client of the apiserver that `options.credentials` lead to. */
export function createKubeClient(options: ClientOptions): ClosableKubeClient {
  return new RestClient(options);
}

interface Call {
  readonly method: HttpMethod;
  readonly path: string;
  readonly kind: string;
  readonly query?: Query | undefined;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly mostBytes?: number | undefined;
  readonly idempotent: boolean;
}

const defaultRetry: RetryPolicy = { backoff: { firstMs: 100, maxMs: 5_000 }, attempts: 5 };
const listTimeoutMs = 60_000;

/** Served by every apiserver for every kind (Kubernetes documentation, "Receiving resources as Tables", metadata-only fetches). */
const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

class RestClient implements ClosableKubeClient {
  readonly #options: ClientOptions;
  readonly #paths: ResourcePaths;
  readonly #transport: Transport;
  readonly #manager: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#paths = new ResourcePaths(options.resources);
    this.#manager = options.fieldManager ?? fieldManager;
    this.#transport = new Transport({
      credentials: options.credentials,
      userAgent: options.userAgent ?? 'etcd-operator',
      connections: options.connections ?? 12,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 10_000,
      clock: options.clock,
    });
  }

  async get(ref: port.ObjectRef, options: port.CallOptions = {}): Promise<port.KubeObject | undefined> {
    // People write such names into specifications. Nothing is called so, and a path would lead elsewhere.
    if (ref.name === '.' || ref.name === '..') return undefined;
    try {
      const path = this.#paths.object(ref);
      return await this.#object({ method: 'GET', path, kind: ref.kind, idempotent: true }, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list(kind: port.KindRef, options: port.ListOptions = {}): Promise<port.ObjectList> {
    const path = this.#paths.collection(kind, options.namespace);
    const deadline = performance.now() + (options.timeoutMs ?? listTimeoutMs);
    const fetchPage: FetchPage = query => {
      const timeoutMs = Math.max(1, deadline - performance.now());
      const accept = options.metadataOnly === true ? metadataList : undefined;
      const mostBytes = bytesOfPage(query['limit']);
      const call = {
        method: 'GET',
        path,
        kind: kind.kind,
        query,
        accept,
        mostBytes,
        idempotent: true,
      } as const;
      return this.#call(call, { signal: options.signal, timeoutMs }, response => ({
        ...parsePage(response.text, path),
        bytes: response.text.length,
      }));
    };
    return listInPages(fetchPage, { ...options, kind, pageSize: this.#options.pageSize ?? 500 });
  }

  create<T extends port.WritableObject>(
    object: T,
    options: port.WriteOptions = {},
  ): Promise<port.KubeObject> {
    const { apiVersion, kind, metadata } = object;
    const path = this.#paths.home({ apiVersion, kind, namespace: metadata.namespace });
    const query = { fieldManager: this.#manager, dryRun: dryRun(options) };
    return this.#object(
      { method: 'POST', path, kind, query, body: JSON.stringify(object), idempotent: false },
      options,
    );
  }

  apply<T extends port.WritableObject>(object: T, options: port.ApplyOptions = {}): Promise<port.KubeObject> {
    return this.#object(
      {
        method: 'PATCH',
        path: this.#paths.object(refOf(object), options.subresource),
        kind: object.kind,
        query: applyQuery(options, this.#manager),
        body: applyBody(object, options.subresource),
        contentType: applyContentType,
        idempotent: true,
      },
      options,
    );
  }

  patch(ref: port.ObjectRef, patch: unknown, options: port.PatchOptions): Promise<port.KubeObject> {
    return this.#object(
      {
        method: 'PATCH',
        path: this.#paths.object(ref, options.subresource),
        kind: ref.kind,
        query: { fieldManager: this.#manager, dryRun: dryRun(options) },
        body: JSON.stringify(patch),
        contentType:
          options.type === 'merge' ? 'application/merge-patch+json' : 'application/json-patch+json',
        // A JSON patch may add to a list: done twice, it adds twice.
        idempotent: options.type === 'merge',
      },
      options,
    );
  }

  replace<T extends port.WritableObject>(
    object: T,
    options: port.ReplaceOptions = {},
  ): Promise<port.KubeObject> {
    const path = this.#paths.object(refOf(object), options.subresource);
    const query = { fieldManager: this.#manager, dryRun: dryRun(options) };
    const body = JSON.stringify(object);
    return this.#object({ method: 'PUT', path, kind: object.kind, query, body, idempotent: true }, options);
  }

  async delete(ref: port.ObjectRef, options: port.DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, gracePeriodSeconds, propagation } = options;
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid, resourceVersion },
      gracePeriodSeconds,
      propagationPolicy: propagation,
    });
    const path = this.#paths.object(ref);
    try {
      await this.#call(
        { method: 'DELETE', path, kind: ref.kind, body, idempotent: true },
        options,
        () => undefined,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async *watch(kind: port.KindRef, options: port.WatchOptions): AsyncGenerator<port.WatchEvent> {
    const { namespace, labelSelector, resourceVersion, timeoutSeconds, idleTimeoutMs } = options;
    const base = this.#paths.collection(kind, namespace);
    const selection = { labelSelector, resourceVersion, timeoutSeconds };
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
      const stream = await this.#transport
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

  close(): Promise<void> {
    return this.#transport.close();
  }

  #object(call: Call, options: port.CallOptions): Promise<port.KubeObject> {
    return this.#call(call, options, response => parseObject(response.text, call.path));
  }

  /** `parse` is part of an attempt: an answer that was cut off is as good as none, and asked for again. */
  async #call<T>(
    call: Call,
    options: port.CallOptions,
    parse: (response: TransportResponse) => T,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(Math.ceil(options.timeoutMs ?? this.#options.timeoutMs ?? 20_000));
    const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    const { method, body, contentType, accept, mostBytes } = call;
    const path = withQuery(call.path, call.query ?? {});
    const attempt = async (): Promise<T> =>
      parse(
        await this.#measured(call, () =>
          this.#transport.send({ method, path, body, contentType, accept, mostBytes, signal }),
        ),
      );
    return withRetries(attempt, {
      policy: this.#options.retry ?? defaultRetry,
      idempotent: call.idempotent,
      signal,
      onRetry: (error, delayMs) =>
        this.#options.logger?.debug('retrying a call to the API server', {
          method,
          path: call.path,
          reason: error.reason,
          delayMs,
        }),
    });
  }

  async #measured<T extends TransportResponse>(call: Call, run: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const report = (code: number): void =>
      this.#options.report?.({
        method: call.method,
        kind: call.kind,
        code,
        durationMs: performance.now() - started,
      });
    try {
      const response = await run();
      report(response.status);
      return response;
    } catch (error) {
      report(error instanceof KubeError ? error.code : 0);
      throw error;
    }
  }
}

/** An event of metadata says that it is of this kind of metadata, not of the objects'. */
function named(event: port.WatchEvent, { apiVersion, kind }: port.KindRef): port.WatchEvent {
  if (event.object.kind !== 'PartialObjectMetadata') return event;
  return { ...event, object: { ...event.object, apiVersion, kind } };
}

function refOf(object: port.WritableObject): port.ObjectRef {
  const { name, namespace } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, name: name ?? '', namespace };
}

const dryRun = (options: port.WriteOptions): string | undefined =>
  options.dryRun === true ? 'All' : undefined;

function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

/** What ended a watch: the caller, the idle timer, the network, or an answer that is none. */
function watchError(error: unknown, watch: { signal: AbortSignal; path: string }): KubeError {
  if (error instanceof KubeError) return error;
  const request = { method: 'WATCH', path: watch.path };
  return watch.signal.aborted ? errorFromAbort(request, watch.signal) : errorFromNetwork(request, error);
}
