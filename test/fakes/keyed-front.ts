/** TLS and an API key before a Temporal that has neither: each request of HTTP/2 is looked at by itself, as Temporal Cloud does. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Pair } from '../../src/tls/issue.ts';

/** What was asked, and whether it was let in. */
export interface KeyedRequest {
  /** Of gRPC: `/package.Service/Method`. */
  readonly path: string;
  readonly key: string | undefined;
  /** The header `temporal-namespace`. */
  readonly namespace: string | undefined;
  readonly isAccepted: boolean;
}

/** Of grpc/doc/statuscodes.md. */
const UNAUTHENTICATED = '16';
const PERMISSION_DENIED = '7';

export class KeyedFront {
  /** The keys that are accepted. */
  readonly keys: Set<string>;
  readonly requests: KeyedRequest[] = [];
  /** The status of a refusal. */
  refusal = UNAUTHENTICATED;
  /** Methods that everybody may call, as the default authorizer lets everybody see whether the server serves. */
  open: readonly string[] = [];
  /** Methods that the keys give no right to. */
  denied: readonly string[] = [];
  readonly #server: Http2SecureServer;
  readonly #target: string;
  readonly #sessions = new Set<Http2Session>();

  private constructor(server: Http2SecureServer, target: string, keys: readonly string[]) {
    this.#server = server;
    this.#target = target;
    this.keys = new Set(keys);
  }

  /** Listens on a port of its own and passes what has one of the keys on to `target`, `host:port`. */
  static async start(target: string, pair: Pair, keys: readonly string[]): Promise<KeyedFront> {
    const server = createSecureServer({ cert: pair.cert, key: pair.key });
    const front = new KeyedFront(server, target, keys);
    server.on('session', session => front.#serve(session));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return front;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many requests with this key were answered so. */
  count(key: string, isAccepted: boolean): number {
    return this.requests.filter(request => request.key === key && request.isAccepted === isAccepted).length;
  }

  async close(): Promise<void> {
    const closed = new Promise(resolve => this.#server.close(resolve));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  #serve(session: Http2Session): void {
    const inner = connect(`http://${this.#target}`);
    for (const [one, other] of [
      [session, inner],
      [inner, session],
    ] as const) {
      this.#sessions.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sessions.delete(one);
        other.destroy();
      });
    }
    session.on('stream', (stream, headers) => this.#answer(stream as ServerHttp2Stream, headers, inner));
  }

  #answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, inner: ClientHttp2Session): void {
    stream.on('error', () => {});
    const key = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
    const path = headers[':path'] ?? '';
    const isOneOf = (methods: readonly string[]) => methods.some(method => path.endsWith(`/${method}`));
    const isDenied = isOneOf(this.denied);
    const isAccepted = !isDenied && (isOneOf(this.open) || (key !== undefined && this.keys.has(key)));
    const namespace = headers['temporal-namespace'] as string | undefined;
    this.requests.push({ path, key, namespace, isAccepted });
    if (!isAccepted) {
      // Servers do quote what they refuse.
      const refused = isDenied
        ? { 'grpc-status': PERMISSION_DENIED, 'grpc-message': 'Request unauthorized.' }
        : { 'grpc-status': this.refusal, 'grpc-message': `invalid API key ${key ?? 'none'}` };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...refused }, { endStream: true });
      return;
    }
    pass(stream, headers, inner);
  }
}

/** Passes a request on, and its answer back, which ends with trailers, or consists of headers alone. */
function pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, inner: ClientHttp2Session): void {
  if (inner.destroyed) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
  const { authorization: _, ...passed } = headers;
  const upstream = inner.request(passed);
  let trailers: IncomingHttpHeaders = {};
  upstream.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  upstream.on('trailers', received => (trailers = received));
  upstream.on('response', (answer, flags) => {
    if (stream.destroyed) return;
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(answer, { endStream, waitForTrailers: !endStream });
    if (!endStream) upstream.pipe(stream);
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.on('close', () => upstream.close(constants.NGHTTP2_CANCEL));
  stream.pipe(upstream);
}
