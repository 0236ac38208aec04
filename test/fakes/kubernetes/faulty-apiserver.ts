/**
 * The fake apiserver behind real HTTPS, with faults on order: what a network, a proxy, an overloaded or a
 * restarting apiserver does to a client. The objects are those of a FakeKube, which tests change directly.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { stringify } from 'yaml';
import { ensureCertificate, openAuthority } from '../../../local/stack/certificates.ts';
import { FakeKube } from './kube.ts';
import {
  answer,
  type ApiRequest,
  type OpenWatch,
  parseRequest,
  rawSockets,
  resetConnection,
  sendStatus,
} from './faulty-apiserver-http.ts';

export type { ApiRequest } from './faulty-apiserver-http.ts';

/** Takes a request over; false leaves it to the next fault, or to the honest answer. */
export type Fault = (request: ApiRequest, response: ServerResponse) => boolean | Promise<boolean>;

export class FaultyApiserver {
  readonly kube = new FakeKube();
  /** Every request that has arrived. */
  readonly requests: ApiRequest[] = [];
  /** Bearer token that is accepted. */
  token = 'token-of-the-test-0123456789';
  /** TLS connections ever made. */
  connections = 0;
  readonly #faults: { readonly verb: string; readonly fault: Fault; left: number }[] = [];
  readonly #sockets = new Set<TLSSocket>();
  readonly #watches = new Set<OpenWatch>();
  readonly #folder: string;
  #server: Server | undefined;
  #port = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start(): Promise<FaultyApiserver> {
    const folder = await mkdtemp(join(tmpdir(), 'faulty-apiserver-'));
    const authority = await openAuthority(folder, 'ca');
    await ensureCertificate(authority, {
      file: 'server',
      commonName: 'apiserver',
      usage: ['server'],
      addresses: ['127.0.0.1'],
    });
    await ensureCertificate(authority, { file: 'client', commonName: 'operator', usage: ['client'] });
    const server = new FaultyApiserver(folder);
    await server.up();
    await server.writeKubeconfig();
    return server;
  }

  /** A kubeconfig that names the CA, client certificate and key as files beside it, and holds the token. */
  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Paths of `ca`, `server` and `client`, each with `.crt` and `.key`. */
  file(name: string): string {
    return join(this.#folder, name);
  }

  async writeKubeconfig(token = this.token): Promise<void> {
    const user = { token, 'client-certificate': 'client.crt', 'client-key': 'client.key' };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server: this.url, 'certificate-authority': 'ca.crt' } }],
      users: [{ name: 'test', user }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    };
    await writeFile(this.kubeconfig, stringify(config));
  }

  /** The next `times` requests of a verb (`list`, `watch`, `get`, `create`, … or `any`) meet a fault. */
  fail(verb: string, fault: Fault, times = 1): void {
    this.#faults.push({ verb, fault, left: times });
  }

  /** Faults end. */
  heal(): void {
    this.#faults.length = 0;
  }

  /** The requests of a verb so far. */
  count(verb: string): number {
    return this.requests.filter(request => request.verb === verb).length;
  }

  /** Writes bytes into every open watch. */
  inject(bytes: string | Buffer): void {
    for (const watch of this.#watches) watch.write(bytes);
  }

  /** A bookmark into every open watch that has asked for bookmarks. */
  bookmark(resourceVersion: string): void {
    for (const watch of this.#watches) {
      const { kind, apiVersion } = watch.request;
      const object = { kind, apiVersion, metadata: { resourceVersion } };
      if (watch.request.query.get('allowWatchBookmarks') === 'true')
        watch.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    }
  }

  /** Open watches hear nothing any more, and their connections stay: a peer that is gone without a word. */
  silenceWatches(): void {
    for (const watch of this.#watches) watch.silence();
  }

  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  /** Stops serving: connections are reset, later ones refused. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise<void>(resolve =>
      server === undefined ? resolve() : server.close(() => resolve()),
    );
    for (const socket of this.#sockets) resetConnection(socket);
    await closed;
  }

  /** Serves (again), on the same port. */
  async up(): Promise<void> {
    const [key, cert, ca] = await Promise.all(
      ['server.key', 'server.crt', 'ca.crt'].map(name => readFile(this.file(name))),
    );
    const options = { key, cert, ca, requestCert: true, rejectUnauthorized: false, keepAliveTimeout: 90_000 };
    const server = createServer(options as Parameters<typeof createServer>[0], (request, response) => {
      this.#serve(request, response).catch(error =>
        response.destroy(error instanceof Error ? error : new Error()),
      );
    });
    server.on('connection', (raw: Socket) => {
      const { remotePort = 0 } = raw;
      rawSockets.set(remotePort, raw);
      raw.on('close', () => rawSockets.delete(remotePort));
    });
    server.on('secureConnection', socket => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    await this.down();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const request = await parseRequest(incoming);
    this.requests.push(request);
    for (const entry of this.#faults) {
      if (entry.left <= 0 || (entry.verb !== 'any' && entry.verb !== request.verb)) continue;
      entry.left -= 1;
      if (await entry.fault(request, response)) return;
    }
    if (request.authorization !== `Bearer ${this.token}`)
      return sendStatus(response, { code: 401, reason: 'Unauthorized' });
    await answer(request, response, { kube: this.kube, watches: this.#watches });
  }
}
