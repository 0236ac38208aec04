/** TLS before a server that has none: who connects has to show a certificate, and everything can be exchanged. */
import { connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Pair } from '../../src/tls/issue.ts';

export interface Identity {
  /** Whose certificates are trusted, and who has signed its own; PEM. */
  readonly ca: string;
  readonly pair: Pair;
}

export class TlsFront {
  /** Handshakes that failed. */
  refused = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on a port of its own and passes what comes on to `target`, `host:port`. Speaks HTTP/2, as gRPC does. */
  static async start(target: string, identity: Identity): Promise<TlsFront> {
    const [host, port] = target.split(':');
    const server = createServer({
      ...optionsOf(identity),
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    });
    const front = new TlsFront(server);
    server.on('tlsClientError', () => (front.refused += 1));
    server.on('secureConnection', socket => front.#join(socket, connect(Number(port), host)));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return front;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Is somebody else from now on, also towards those that are connected: they are cut off. */
  become(identity: Identity): void {
    this.#server.setSecureContext(optionsOf(identity));
    this.cut();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise(resolve => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #join(outer: TLSSocket, inner: Socket): void {
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}

function optionsOf({ ca, pair }: Identity) {
  return { ca, cert: pair.cert, key: pair.key };
}
