import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { KubeError } from '../../../src/kube/errors.ts';
import type { KubeObject, ObjectRef, WatchEvent } from '../../../src/kube/port.ts';
import { knownResources } from '../../../src/kube/resources.ts';
import type { FakeKube } from './kube.ts';

/** A request as the fake apiserver understood it. */
export interface ApiRequest {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'replace' | 'delete' | 'other';
  readonly path: string;
  readonly query: URLSearchParams;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly contentType: string;
  /** Whether only metadata is asked for. */
  readonly metadataOnly: boolean;
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
  /** The serial number of the client certificate, if there was one. */
  readonly clientSerial: string | undefined;
  readonly body: string;
  readonly atMs: number;
}

export interface OpenWatch {
  readonly request: ApiRequest;
  write(bytes: string | Buffer): void;
  silence(): void;
  end(): void;
}

export interface Backing {
  readonly kube: FakeKube;
  readonly watches: Set<OpenWatch>;
}

/** Connections by the port of the client: a TLS socket itself cannot be reset, what it runs on can. */
export const rawSockets = new Map<number, Socket>();

/** A TCP reset instead of what was to come. */
export function resetConnection(socket: Socket | null): void {
  rawSockets.get(socket?.remotePort ?? 0)?.resetAndDestroy();
}

const objectPath = /^\/apis?\/(.+?)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(?:\/(status|scale))?$/;

export async function parseRequest(incoming: IncomingMessage): Promise<ApiRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const url = new URL(incoming.url ?? '/', 'https://apiserver');
  const [, apiVersion = '', namespace, plural = '', name = '', subresource] =
    objectPath.exec(url.pathname) ?? [];
  const resource = knownResources.find(entry => entry.apiVersion === apiVersion && entry.plural === plural);
  const certificate = (incoming.socket as TLSSocket).getPeerCertificate();
  const contentType = incoming.headers['content-type'] ?? '';
  const shape = {
    method: incoming.method ?? 'GET',
    contentType,
    isObject: name !== '',
    query: url.searchParams,
  };
  return {
    verb: resource === undefined ? 'other' : verbOf(shape),
    path: url.pathname,
    query: url.searchParams,
    apiVersion,
    kind: resource?.kind ?? '',
    namespace,
    name,
    subresource,
    contentType,
    metadataOnly: incoming.headers.accept?.includes(';as=PartialObjectMetadata') ?? false,
    authorization: incoming.headers.authorization,
    userAgent: incoming.headers['user-agent'],
    clientSerial: certificate?.serialNumber,
    body: Buffer.concat(chunks).toString('utf8'),
    atMs: performance.now(),
  };
}

function verbOf(shape: {
  method: string;
  contentType: string;
  isObject: boolean;
  query: URLSearchParams;
}): ApiRequest['verb'] {
  if (shape.method === 'GET' && !shape.isObject)
    return shape.query.get('watch') === 'true' ? 'watch' : 'list';
  if (shape.method === 'PATCH')
    return shape.contentType === 'application/apply-patch+yaml' ? 'apply' : 'patch';
  return shape.method === 'POST'
    ? 'create'
    : shape.method === 'PUT'
      ? 'replace'
      : shape.method === 'DELETE'
        ? 'delete'
        : 'get';
}

/** The answer of an apiserver without a fault. */
export async function answer(request: ApiRequest, response: ServerResponse, backing: Backing): Promise<void> {
  try {
    if (request.verb === 'watch') await serveWatch(request, response, backing);
    else if (request.verb === 'list') sendJson(response, 200, await listPage(request, backing.kube));
    else if (request.verb === 'other')
      sendStatus(response, { code: 404, reason: 'NotFound', message: request.path });
    else sendJson(response, request.verb === 'create' ? 201 : 200, await single(request, backing.kube));
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    sendStatus(response, { code: error.code, reason: error.reason, message: error.message });
  }
}

async function single(request: ApiRequest, kube: FakeKube): Promise<unknown> {
  const { apiVersion, kind, namespace, name, query } = request;
  const ref: ObjectRef = { apiVersion, kind, namespace, name };
  const client = kube.as(query.get('fieldManager') ?? 'unknown');
  const options = {
    dryRun: query.get('dryRun') === 'All',
    subresource: request.subresource as 'status' | undefined,
  };
  const body = (): KubeObject => JSON.parse(request.body) as KubeObject;
  if (request.verb === 'create') return client.create(body(), options);
  if (request.verb === 'apply')
    return client.apply(body(), { ...options, force: query.get('force') === 'true' });
  if (request.verb === 'replace') return client.replace(body(), options);
  if (request.verb === 'patch') {
    const type = request.contentType === 'application/merge-patch+json' ? 'merge' : 'json';
    return client.patch(ref, body(), { ...options, type });
  }
  const found = await client.get(ref);
  if (found === undefined)
    throw new KubeError({ code: 404, reason: 'NotFound', message: `${name} not found`, retry: 'never' });
  if (request.verb === 'get') return found;
  const { preconditions = {}, gracePeriodSeconds } = JSON.parse(request.body) as {
    preconditions?: { uid?: string; resourceVersion?: string };
    gracePeriodSeconds?: number;
  };
  await client.delete(ref, { ...preconditions, gracePeriodSeconds });
  return found;
}

/** Pages by an index into the collection; the token also names the revision, as a real one does. */
async function listPage(request: ApiRequest, kube: FakeKube): Promise<unknown> {
  const { apiVersion, kind, namespace, metadataOnly, query } = request;
  const labelSelector = query.get('labelSelector') ?? undefined;
  const fieldSelector = query.get('fieldSelector') ?? undefined;
  const { items, resourceVersion } = await kube.list(
    { apiVersion, kind },
    { namespace, labelSelector, fieldSelector, metadataOnly },
  );
  const [start = 0, revision = resourceVersion] = (query.get('continue') ?? '')
    .split('/')
    .filter(Boolean)
    .map(Number);
  const end = query.has('limit') ? start + Number(query.get('limit')) : items.length;
  const metadata = {
    resourceVersion: String(revision),
    continue: end < items.length ? `${end}/${revision}` : '',
  };
  // As from a real apiserver, items of a list do not say what they are.
  const bare = items.slice(start, end).map(({ apiVersion: _version, kind: _kind, ...rest }) => rest);
  return { apiVersion, kind: `${kind}List`, metadata, items: bare };
}

async function serveWatch(
  request: ApiRequest,
  response: ServerResponse,
  { kube, watches }: Backing,
): Promise<void> {
  const { apiVersion, kind, namespace, metadataOnly, query } = request;
  const stop = new AbortController();
  let silent = false;
  const watch: OpenWatch = {
    request,
    write: bytes => void (silent || response.write(bytes)),
    silence: () => {
      silent = true;
    },
    end: () => stop.abort(),
  };
  response.on('close', () => stop.abort());
  const options = {
    namespace,
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: query.get('fieldSelector') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? '0',
    timeoutSeconds: Number(query.get('timeoutSeconds')),
    idleTimeoutMs: 0,
    metadataOnly,
    signal: stop.signal,
    onOpen: () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      watches.add(watch);
    },
  };
  try {
    for await (const event of kube.watch({ apiVersion, kind }, options))
      watch.write(`${JSON.stringify(metadataOnly ? asMetadata(event) : event)}\n`);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    watches.delete(watch);
  }
  if (!silent) response.end();
}

/** As from a real apiserver, what comes alone says that it is metadata. */
function asMetadata(event: WatchEvent): WatchEvent {
  const said = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' };
  return { ...event, object: { ...event.object, ...said } };
}

export function sendStatus(
  response: ServerResponse,
  status: {
    code: number;
    reason: string;
    message?: string;
    retryAfterSeconds?: number;
    continueToken?: string;
  },
): void {
  if (status.retryAfterSeconds !== undefined)
    response.setHeader('retry-after', String(status.retryAfterSeconds));
  const { code, reason, message = reason, continueToken } = status;
  const metadata = continueToken === undefined ? {} : { continue: continueToken };
  sendJson(response, code, {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    metadata,
    code,
    reason,
    message,
  });
}

function sendJson(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
