/**
 * Bounds what strangers can take of a listener: how many connections there are, how long a request may take to arrive, how
 * long a reader may be silent. A port is open to everyone who can connect to the pod, and the kubelet has to get through beside them.
 */
import type { Server as HttpServer, ServerOptions } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections at once. For one more the peer with the most of them loses its oldest. */
  readonly most: number;
  /** Milliseconds that a handshake, and then the headers of a request, may take. */
  readonly headersMs: number;
  /** Milliseconds that a whole request may take to arrive; 0: as long as it takes. */
  readonly requestMs: number;
  /** Milliseconds of silence in the middle of a request or its answer after which the connection is ended. */
  readonly silenceMs: number;
}

/** For pages: a request without a body, and an answer of at most some hundred kilobytes. */
export const PAGE_LIMITS: ConnectionLimits = {
  most: 128,
  headersMs: 5_000,
  requestMs: 5_000,
  silenceMs: 10_000,
};

/** For a store: objects take as long as they take, and its one client has a few connections. */
export const STORE_LIMITS: ConnectionLimits = {
  most: 64,
  headersMs: 5_000,
  requestMs: 0,
  silenceMs: 5 * 60_000,
};

/** Of a request's headers together; bytes. Ours have some hundred. */
const MOST_HEADER_BYTES = 8 * 1024;

/**
 * Requests of one connection that wait for their answers (pipelining, RFC 9112, 9.3.2): Node takes in whatever comes, and each is
 * some 20 kB of memory. Nobody who is meant to ask here sends a second one before the first is answered.
 */
const MOST_UNANSWERED = 8;

/** How often late requests are looked for; milliseconds. */
const CHECK_MS = 1_000;

/** What createServer of node:http and node:https takes; the second also `handshakeTimeout`. */
export function serverOptions({ headersMs, requestMs }: ConnectionLimits): ServerOptions & {
  readonly handshakeTimeout: number;
} {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    handshakeTimeout: headersMs,
    keepAliveTimeout: headersMs,
    connectionsCheckingInterval: CHECK_MS,
    maxHeaderSize: MOST_HEADER_BYTES,
  };
}

/**
 * Keeps a server within the limits; to be called once, before it listens. What goes wrong with a single connection, or with
 * taking one (such as no file descriptors left), goes to `onTrouble` and no further.
 */
export function boundConnections(
  server: HttpServer | HttpsServer,
  { most, silenceMs }: ConnectionLimits,
  onTrouble: (error: Error) => void,
): void {
  const open = new Map<string, Connection>();
  server.setTimeout(silenceMs);
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    open.set(name, { socket, peer: socket.remoteAddress ?? '', busy: 0 });
    socket.once('close', () => open.delete(name));
    if (open.size > most) giveUpOne([...open.values()]);
  });
  // Before the one that answers, which leaves alone what came over a connection that is gone.
  server.prependListener('request', (request, response) => {
    const connection = open.get(nameOf(request.socket));
    if (connection === undefined) return;
    connection.busy += 1;
    if (connection.busy > MOST_UNANSWERED) request.socket.destroy();
    response.once('close', () => (connection.busy -= 1));
  });
  // Without a listener it would end the process.
  server.on('error', onTrouble);
}

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  /** Requests that are being answered. */
  busy: number;
}

/** The same for a connection and for the one within it that TLS makes. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/**
 * Ends the oldest connection of the peer that has the most, rather one that waits than one that is answered: neither many
 * idle connections of one peer nor a slow reader keep the others out.
 */
function giveUpOne(open: readonly Connection[]): void {
  const byPeer = Map.groupBy(open, ({ peer }) => peer);
  const [most = []] = [...byPeer.values()].toSorted((one, other) => other.length - one.length);
  const victim = most.find(({ busy }) => busy === 0) ?? most[0];
  victim?.socket.destroy();
}
