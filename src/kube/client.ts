import { FIELD_MANAGER } from '../api/names.ts';
import { applyBody, applyContentType, applyQuery } from './apply.ts';
import { Calls, type CallsOptions } from './calls.ts';
import type { Credentials } from './credentials.ts';
import { isNotFound } from './errors.ts';
import { parsePage } from './json.ts';
import { Limiter } from './limiter.ts';
import { bytesOfPage, type FetchPage, listInPages } from './list.ts';
import type * as port from './port.ts';
import { collectionPath, homePath, objectPath, refTo } from './resources.ts';
import type { ServerClock } from './server-clock.ts';
import { Transport } from './transport.ts';
import { watchCollection } from './watch.ts';

export interface ClientOptions extends CallsOptions {
  readonly credentials: Credentials;
  readonly fieldManager?: string | undefined;
  /** As of TransportOptions. */
  readonly userAgent?: string | undefined;
  /** Connections shared by all calls; 12 by default. Every watch has one more. */
  readonly connections?: number | undefined;
  /**
   * Status is written over so many connections of its own, so that users read of an emergency; and each namespace has its fair share of
   * both, so that one whose webhooks or quotas are slow holds up no other (docs/decisions/0028-calls-to-the-api-server.md).
   */
  readonly statusConnections?: number | undefined;
  /** Limit of one attempt; 10 s by default, so that a dead connection leaves time for a second attempt. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Items in a page of a list; 500 by default. */
  readonly pageSize?: number | undefined;
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

/** Deadline of a list that names none, in milliseconds. */
export const LIST_TIMEOUT_MS = 60_000;

/** Served by every apiserver for every kind (Kubernetes documentation, "Receiving resources as Tables", metadata-only fetches). */
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

class RestClient implements ClosableKubeClient {
  readonly #options: ClientOptions;
  readonly #transport: Transport;
  readonly #statusTransport: Transport;
  readonly #calls: Calls;
  readonly #statusCalls: Calls;
  readonly #manager: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#manager = options.fieldManager ?? FIELD_MANAGER;
    const { connections = 12, statusConnections } = options;
    const transportOf = (atOnce: number) =>
      new Transport({
        credentials: options.credentials,
        connections: atOnce,
        attemptTimeoutMs: options.attemptTimeoutMs ?? 10_000,
        userAgent: options.userAgent,
        clock: options.clock,
      });
    this.#transport = transportOf(connections);
    if (statusConnections === undefined) {
      this.#statusTransport = this.#transport;
      this.#calls = new Calls({ transport: this.#transport }, options);
      this.#statusCalls = this.#calls;
      return;
    }
    this.#statusTransport = transportOf(statusConnections);
    const fairly = (transport: Transport, atOnce: number) =>
      new Calls({ transport, limiter: new Limiter({ atOnce }) }, options);
    this.#calls = fairly(this.#transport, connections);
    this.#statusCalls = fairly(this.#statusTransport, statusConnections);
  }

  async get(ref: port.ObjectRef, options: port.CallOptions = {}): Promise<port.KubeObject | undefined> {
    // Users write such names into specifications. Nothing is called so, and a path would lead elsewhere.
    if (ref.name === '.' || ref.name === '..') return undefined;
    try {
      const { kind, namespace } = ref;
      const call = { method: 'GET', path: objectPath(ref), kind, namespace, idempotent: true } as const;
      return await this.#calls.object(call, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list(kind: port.KindRef, options: port.ListOptions = {}): Promise<port.ObjectList> {
    const path = collectionPath(kind, options.namespace);
    const deadline = performance.now() + (options.timeoutMs ?? LIST_TIMEOUT_MS);
    const fetchPage: FetchPage = query => {
      const timeoutMs = Math.max(1, deadline - performance.now());
      const accept = options.metadataOnly === true ? metadataList : undefined;
      const mostBytes = bytesOfPage(query['limit']);
      const call = {
        method: 'GET',
        path,
        kind: kind.kind,
        namespace: options.namespace,
        query,
        accept,
        mostBytes,
        idempotent: true,
      } as const;
      return this.#calls.send(call, { signal: options.signal, timeoutMs }, response => ({
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
    const path = homePath({ apiVersion, kind, namespace: metadata.namespace });
    const query = { fieldManager: this.#manager, dryRun: dryRun(options) };
    return this.#calls.object(
      {
        method: 'POST',
        path,
        kind,
        namespace: metadata.namespace,
        query,
        body: JSON.stringify(object),
        idempotent: false,
      },
      options,
    );
  }

  apply<T extends port.WritableObject>(object: T, options: port.ApplyOptions = {}): Promise<port.KubeObject> {
    return this.#callsFor(options).object(
      {
        method: 'PATCH',
        path: objectPath(refTo(object), options.subresource),
        kind: object.kind,
        namespace: object.metadata.namespace,
        query: applyQuery(options, this.#manager),
        body: applyBody(object, options.subresource),
        contentType: applyContentType,
        idempotent: true,
      },
      options,
    );
  }

  patch(ref: port.ObjectRef, patch: unknown, options: port.PatchOptions): Promise<port.KubeObject> {
    return this.#callsFor(options).object(
      {
        method: 'PATCH',
        path: objectPath(ref, options.subresource),
        kind: ref.kind,
        namespace: ref.namespace,
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
    const path = objectPath(refTo(object), options.subresource);
    const query = { fieldManager: this.#manager, dryRun: dryRun(options) };
    const body = JSON.stringify(object);
    const { kind, metadata } = object;
    return this.#callsFor(options).object(
      { method: 'PUT', path, kind, namespace: metadata.namespace, query, body, idempotent: true },
      options,
    );
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
    const path = objectPath(ref);
    try {
      await this.#calls.send(
        { method: 'DELETE', path, kind: ref.kind, namespace: ref.namespace, body, idempotent: true },
        options,
        () => undefined,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async *watch(kind: port.KindRef, options: port.WatchOptions): AsyncGenerator<port.WatchEvent> {
    const base = collectionPath(kind, options.namespace);
    yield* watchCollection(this.#transport, { base, kind }, options);
  }

  async close(): Promise<void> {
    await Promise.all([this.#transport.close(), this.#statusTransport.close()]);
  }

  #callsFor({ subresource }: { readonly subresource?: string | undefined }): Calls {
    return subresource === 'status' ? this.#statusCalls : this.#calls;
  }
}

const dryRun = (options: port.WriteOptions): string | undefined =>
  options.dryRun === true ? 'All' : undefined;
