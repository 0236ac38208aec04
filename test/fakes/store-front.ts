/** A front before the server of a store: passes requests on, and does to them what a bad day does. */
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What happens to a request instead of, or while, it is passed on. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Taken and never answered. */
  | { readonly kind: 'hang' }
  /** Passed on and done, but the answer is lost with the connection. */
  | { readonly kind: 'lose answer' }
  /** The answer's body ends with the connection after so many bytes. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** One bit of this byte of the answer's body is another. */
  | { readonly kind: 'flip'; readonly byte: number }
  /** The last byte of its body is passed on only after `until`, whether its sender is still there or not. */
  | { readonly kind: 'hold'; readonly until: () => Promise<void> }
  /** Both directions at this pace. */
  | { readonly kind: 'slow'; readonly bytesPerSecond: number };

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export class Front {
  /** Says what happens to a request; asked for each. */
  fault: (seen: Seen) => Fault | undefined = () => undefined;
  /** Refuses a request before anything else; the answer's status, or undefined to let it pass. */
  guard: (seen: Seen) => number | undefined = () => undefined;
  /** How many requests came since `reset`. */
  requests = 0;
  readonly #server: Server;
  readonly #target: number;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
  }

  /** Listens on a port of its own, and passes on to `targetPort` of this machine. */
  static async start(targetPort: number): Promise<Front> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    const front = new Front(server, targetPort);
    server.on('request', (incoming, outgoing) => {
      front.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return front;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** No faults any more. */
  reset(): void {
    this.fault = () => undefined;
    this.requests = 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.requests += 1;
    const seen = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers };
    const refused = this.guard(seen);
    const fault: Fault | undefined =
      refused === undefined ? this.fault(seen) : { kind: 'status', status: refused };
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'status') {
      incoming.resume();
      await new Promise(resolve => incoming.on('end', resolve));
      outgoing.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    const pace = fault?.kind === 'slow' ? fault.bytesPerSecond : undefined;
    const passed = request({
      host: '127.0.0.1',
      port: this.#target,
      method: seen.method,
      path: seen.path,
      headers: seen.headers,
    });
    if (fault?.kind !== 'hold') outgoing.on('close', () => passed.destroy());
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      passed.on('response', resolve).on('error', reject);
    });
    answer.catch(() => {});
    if (fault?.kind === 'hold') await holdLastByte(incoming, passed, fault.until);
    else await copy(incoming, passed, { pace });
    passed.end();
    const came = await answer;
    if (fault?.kind === 'lose answer') {
      came.resume();
      await new Promise(resolve => came.on('end', resolve));
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(came.statusCode ?? 500, came.headers);
    const cutAfter = fault?.kind === 'cut' ? fault.afterBytes : undefined;
    const flipAt = fault?.kind === 'flip' ? fault.byte : undefined;
    if ((await copy(came, outgoing, { pace, cutAfter, flipAt })) === 'cut') outgoing.destroy();
    else outgoing.end();
  }
}

async function holdLastByte(
  from: IncomingMessage,
  to: ClientRequest,
  until: () => Promise<void>,
): Promise<void> {
  let last: Buffer = Buffer.alloc(0);
  for await (const chunk of from as AsyncIterable<Buffer>) {
    to.write(Buffer.concat([last, chunk.subarray(0, -1)]));
    last = chunk.subarray(-1);
  }
  await until();
  to.write(last);
}

async function copy(
  from: IncomingMessage,
  to: ClientRequest | ServerResponse,
  how: {
    readonly pace: number | undefined;
    readonly cutAfter?: number | undefined;
    readonly flipAt?: number | undefined;
  },
): Promise<'cut' | 'whole'> {
  let size = 0;
  for await (const chunk of from as AsyncIterable<Buffer>) {
    const flipAt = (how.flipAt ?? -1) - size;
    if (flipAt >= 0 && flipAt < chunk.length) chunk.writeUInt8(chunk.readUInt8(flipAt) ^ 1, flipAt);
    size += chunk.length;
    if (how.cutAfter !== undefined && size > how.cutAfter) return 'cut';
    if (how.pace !== undefined) await delay((chunk.length / how.pace) * 1000);
    if (!to.write(chunk)) await new Promise(resolve => to.once('drain', resolve));
  }
  return 'whole';
}
