import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Connection } from './connection.ts';
import type { Credentials } from './credentials.ts';
import { KubeError } from './errors.ts';
import type { ServerClock } from './server-clock.ts';
import { errorFromAbort, errorFromNetwork, errorFromResponse } from './status.ts';

export interface TransportOptions {
  readonly credentials: Credentials;
  /** Connections for calls; further calls queue. Watches have connections of their own, one each. */
  readonly connections: number;
  /** Limit of one attempt of a call, from queueing to the last byte. */
  readonly attemptTimeoutMs: number;
  /** What the requests say they come from, in the API server's audit log; `etcd-operator` by default. */
  readonly userAgent?: string | undefined;
  /** Called with the time in every answer. */
  readonly clock?: ServerClock | undefined;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Of a URL; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface TransportRequest {
  readonly method: HttpMethod;
  /** Path and query. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** Of an answer that is read: a longer one is given up (KubeError TooLarge). */
  readonly mostBytes?: number | undefined;
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  readonly text: string;
}

interface Agents {
  readonly fingerprint: string;
  readonly calls: Dispatcher;
  readonly watches: Dispatcher;
}

interface Dispatch {
  readonly connection: Connection;
  readonly pool: 'calls' | 'watches';
  readonly signal: AbortSignal;
}

/**
 * Single HTTP requests over connections that are kept and shared. Speaks HTTP/1.1 on purpose: with HTTP/2 all
 * requests share one connection, and giving up a silent watch would leave everything on the same dead one.
 */
export class Transport {
  readonly #options: TransportOptions;
  #agents: Agents | undefined;
  #closed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** One attempt of a call. @throws KubeError for every status but 2xx and for every failure underway. */
  async send(request: TransportRequest): Promise<TransportResponse> {
    const attempt = AbortSignal.timeout(this.#options.attemptTimeoutMs);
    const signal = AbortSignal.any([request.signal, attempt]);
    const connection = await this.#connection(request);
    const response = await this.#dispatch(request, { connection, pool: 'calls', signal });
    const text = await this.#guard(request, () => readText(response.body, request));
    if (response.statusCode >= 200 && response.statusCode < 300) return { status: response.statusCode, text };
    throw this.#refused(request, response, redact(text, connection));
  }

  /**
   * A request whose body is read as it comes; the caller's signal ends it and closes its connection.
   * @throws KubeError for every status but 200 and for every failure up to the response headers.
   */
  async open(request: TransportRequest): Promise<AsyncIterable<Buffer>> {
    const connection = await this.#connection(request);
    const response = await this.#dispatch(request, { connection, pool: 'watches', signal: request.signal });
    if (response.statusCode === 200) return response.body;
    const text = await this.#guard(request, () => response.body.text());
    throw this.#refused(request, response, redact(text, connection));
  }

  /** Ends every connection. Calls under way fail; later ones are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    const agents = this.#agents;
    this.#agents = undefined;
    await Promise.all([agents?.calls.destroy(), agents?.watches.destroy()]);
  }

  /** Credentials may come from a program that hangs: the deadline of the call counts for it too. */
  #connection(request: TransportRequest): Promise<Connection> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const end = (): void => reject(errorFromAbort(nameOf(request), signal));
      if (signal.aborted) return end();
      signal.addEventListener('abort', end, { once: true });
      this.#options.credentials
        .connection()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', end));
    });
  }

  async #dispatch(request: TransportRequest, how: Dispatch): Promise<Dispatcher.ResponseData> {
    const { connection, pool, signal } = how;
    const dispatcher = this.#agentsFor(connection)[pool];
    const heard = this.#options.clock?.ask();
    const response = await this.#guard(request, () =>
      dispatcher.request({
        origin: connection.server.origin,
        path: `${connection.server.pathname.replace(/\/$/, '')}${request.path}`,
        method: request.method,
        headers: this.#headers(request, connection),
        body: request.body ?? null,
        signal,
      }),
    );
    heard?.(response.headers['date']);
    return response;
  }

  #headers(request: TransportRequest, connection: Connection): Record<string, string> {
    return {
      ...connection.headers,
      accept: request.accept ?? 'application/json',
      'user-agent': this.#options.userAgent ?? 'etcd-operator',
      ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
    };
  }

  /** The agents for these credentials. Those for the former ones end when their last request does. */
  #agentsFor(connection: Connection): Agents {
    if (this.#closed)
      throw new KubeError({ code: 0, reason: 'Aborted', message: 'the client is closed', retry: 'never' });
    const { fingerprint } = connection;
    if (this.#agents?.fingerprint === fingerprint) return this.#agents;
    const former = this.#agents;
    const { connections, attemptTimeoutMs } = this.#options;
    // Calls have a deadline each; these limits are the net below it. A watch has its own idle timer.
    const calls = newAgent(connection, { connections, timeoutMs: attemptTimeoutMs });
    const watches = newAgent(connection, { connections: null, timeoutMs: 0 });
    this.#agents = { fingerprint, calls, watches };
    for (const agent of former === undefined ? [] : [former.calls, former.watches])
      agent.close().catch(() => {});
    return this.#agents;
  }

  #refused(request: TransportRequest, response: Dispatcher.ResponseData, text: string): KubeError {
    if (response.statusCode === 401) this.#options.credentials.invalidate();
    const header = response.headers['retry-after'];
    const retryAfter = Array.isArray(header) ? header[0] : header;
    return errorFromResponse(nameOf(request), { code: response.statusCode, text, retryAfter });
  }

  async #guard<T>(request: TransportRequest, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof KubeError) throw error;
      if (request.signal.aborted) throw errorFromAbort(nameOf(request), request.signal);
      throw errorFromNetwork(nameOf(request), error);
    }
  }
}

function newAgent(
  connection: Connection,
  limits: { connections: number | null; timeoutMs: number },
): Dispatcher {
  const options = {
    connections: limits.connections,
    headersTimeout: limits.timeoutMs,
    bodyTimeout: limits.timeoutMs,
    pipelining: 1,
    allowH2: false,
    // Below the apiserver's own 90 s, so that it is seldom the apiserver that closes a connection about to be used.
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 60_000,
  };
  const tls = { ...connection.tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (connection.proxyUrl === undefined) return new Agent({ ...options, connect: tls });
  return new ProxyAgent({ ...options, uri: connection.proxyUrl, requestTls: tls });
}

/** Leaving the loop ends the connection, since what is still to come would have to be read first. */
async function readText(body: Dispatcher.ResponseData['body'], request: TransportRequest): Promise<string> {
  const { mostBytes } = request;
  if (mostBytes === undefined) return body.text();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw tooLarge(request, mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(request: TransportRequest, mostBytes: number): KubeError {
  const { method, path } = nameOf(request);
  const message = `${method} ${path}: the answer is larger than ${mostBytes} bytes`;
  return new KubeError({ code: 0, reason: 'TooLarge', message, retry: 'later' });
}

/** A proxy's error page may repeat the headers of the request. */
function redact(text: string, connection: Connection): string {
  const secret = connection.headers['authorization']?.split(' ').at(-1) ?? '';
  return secret === '' ? text : text.replaceAll(secret, '[redacted]');
}

const nameOf = (request: TransportRequest): { method: string; path: string } => ({
  method: request.method,
  // Queries hold page tokens and selectors: long, and no help in a message.
  path: request.path.split('?', 1)[0] ?? '',
});
