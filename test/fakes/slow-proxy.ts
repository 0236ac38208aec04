/** A proxy in front of any TCP server that makes it as slow as one that is far away: everything comes later, and in order. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SlowProxy {
  /** `host:port`, as clients reach it. */
  readonly address: string;
  stop(): void;
}

export interface SlowProxyOptions {
  /** `host:port` of the server. */
  readonly server: string;
  /** Of the proxy; 127.0.0.1 when left out. */
  readonly host?: string;
  /** Of the proxy; a free one when left out. */
  readonly port?: number;
  /** From a question to its answer, in milliseconds, beside what the server takes: half of it each way. */
  readonly delayMs: number;
}

export async function startSlowProxy({
  server,
  host = '127.0.0.1',
  port: wanted = 0,
  delayMs,
}: SlowProxyOptions): Promise<SlowProxy> {
  const [serverHost = '', serverPort] = server.split(':');
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
  };
  // A side that has said everything still waits for its answer.
  const proxy = createServer({ allowHalfOpen: true }, client => {
    const upstream = connect({ port: Number(serverPort), host: serverHost, allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      keep(socket);
      socket.on('error', () => (client.destroy(), upstream.destroy()));
    }
    late(client, upstream, delayMs / 2);
    late(upstream, client, delayMs / 2);
  });
  await new Promise<void>((resolve, reject) => {
    proxy.once('error', reject);
    proxy.listen(wanted, host, resolve);
  });
  const { port } = proxy.address() as AddressInfo;
  return {
    address: `${host}:${port}`,
    stop() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Timers of the same length fire in the order in which they were set. */
function late(from: Socket, to: Socket, delayMs: number): void {
  from.on('data', chunk => setTimeout(() => to.writable && to.write(chunk), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
}
