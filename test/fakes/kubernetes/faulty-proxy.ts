/**
 * A proxy in front of a real apiserver (or of anything that speaks HTTP) that delays a share of the calls and refuses
 * another: what an overloaded apiserver, a slow webhook or a lossy network does to a client. A call that was delayed reaches
 * the apiserver all the same, also when the client has given it up meanwhile: its effect comes late and unheard.
 *
 * Point a client at it with a kubeconfig (`writeKubeconfig`), or a pod with KUBERNETES_SERVICE_HOST and _PORT and a listener
 * whose certificate the cluster's authority has signed (`tls`). Tokens are passed on; a client certificate ends here, so for
 * users that have one it is given to the proxy (`identity`).
 */
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { TestAuthority } from '../certificates.ts';
import { sendStatus } from './faulty-apiserver-http.ts';

/** Shares are from 0 to 1, of all calls; a call that is refused is not delayed. */
export interface ProxyFaults {
  readonly delayed: number;
  readonly delayMs: number;
  /** Answered 429 (with Retry-After: 1) and 503 in turn, and never passed on. */
  readonly refused: number;
}

export const NO_FAULTS: ProxyFaults = { delayed: 0, delayMs: 0, refused: 0 };
/** Such a share of the calls late by 5 s, and as many refused: 0.01 and 0.05 are what the operator has to bear. */
export const faultsOf = (share: number): ProxyFaults => ({ delayed: share, delayMs: 5_000, refused: share });

export interface FaultyProxyOptions {
  /** Where the apiserver is, such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM of the authority of its certificate. */
  readonly ca: string | Buffer;
  /** Who the proxy is to the apiserver; without it calls carry what the client sends. */
  readonly identity?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** What it shows to clients; an authority of its own signs for it when left out, and for `host` alone. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** 127.0.0.1 and any free port when left out. */
  readonly host?: string;
  readonly port?: number;
  /** From 0 up to and without 1; a repeatable one makes a run repeatable. */
  readonly random?: () => number;
}

export class FaultyProxy {
  /** What happens to the calls that come from now on. */
  faults: ProxyFaults = NO_FAULTS;
  /** What has happened to calls so far. */
  readonly counts = { passed: 0, delayed: 0, refused: 0 };
  readonly #options: FaultyProxyOptions;
  readonly #upstream: Agent;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  /** PEM of the authority that clients have to trust; empty when `tls` was given. */
  readonly authority: string;

  private constructor(
    options: FaultyProxyOptions & Required<Pick<FaultyProxyOptions, 'tls'>>,
    authority: string,
  ) {
    const { ca, identity, tls } = options;
    this.authority = authority;
    this.#options = options;
    this.#upstream = new Agent({ keepAlive: true, ca, ...identity });
    const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
      this.#serve(incoming, response).catch(() => response.destroy());
    };
    this.#server = createServer({ ...tls }, serve);
    this.#server.on('connection', socket => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
  }

  static async start(options: FaultyProxyOptions): Promise<FaultyProxy> {
    const { host = '127.0.0.1' } = options;
    const authority = options.tls === undefined ? await TestAuthority.create('faulty-proxy') : undefined;
    const tls = options.tls ?? (await authority?.issue({ commonName: 'apiserver', addresses: [host] }));
    if (tls === undefined) throw new Error('no certificate was issued');
    const proxy = new FaultyProxy({ ...options, tls }, authority?.pair.cert ?? '');
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(options.port ?? 0, host, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://${this.#options.host ?? '127.0.0.1'}:${this.port}`;
  }

  /** A kubeconfig that leads here, for a user with this token or for the identity of the proxy. */
  async writeKubeconfig(path: string, token?: string): Promise<void> {
    const authority = Buffer.from(this.authority).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'proxy', cluster: { server: this.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'proxy', user: token === undefined ? {} : { token } }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'proxy' } }],
      'current-context': 'proxy',
    };
    await writeFile(path, stringify(config), { mode: 0o600 });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    this.#upstream.destroy();
    await closed;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { random = Math.random } = this.#options;
    const { delayed, delayMs, refused } = this.faults;
    const chance = random();
    if (chance < refused) {
      this.counts.refused += 1;
      incoming.resume();
      const isOverload = this.counts.refused % 2 === 1;
      if (isOverload)
        return sendStatus(response, { code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 });
      return sendStatus(response, { code: 503, reason: 'ServiceUnavailable' });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (chance < refused + delayed) {
      this.counts.delayed += 1;
      await delay(delayMs);
    } else this.counts.passed += 1;
    this.#pass(incoming, { body: Buffer.concat(chunks), response });
  }

  #pass(incoming: IncomingMessage, { body, response }: { body: Buffer; response: ServerResponse }): void {
    const { 'transfer-encoding': _, connection: __, ...headers } = incoming.headers;
    const target = new URL(incoming.url ?? '/', this.#options.server);
    const length = body.length > 0 ? { 'content-length': String(body.length) } : {};
    const call = request(target, {
      method: incoming.method,
      agent: this.#upstream,
      headers: { ...headers, ...length, host: target.host },
    });
    call.on('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // A watch has headers long before it has a first event.
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
      // A client that leaves a watch ends it; a call that is answered already has no further effect.
      response.on('close', () => answer.destroy());
    });
    call.on('error', () => response.destroy());
    response.on('error', () => {});
    call.end(body);
  }
}
