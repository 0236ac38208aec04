/** Makes a server of this machine's loopback reachable for the pods of a stack, which know only the stack's bridge. */
import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface Forward {
  /** As pods reach it. */
  readonly url: string;
  stop(): void;
}

/**
 * @param address the address of the bridge
 * @param to the URL on loopback
 * @param certificate of a server that speaks TLS to the pods
 */
export async function forward(
  address: string,
  to: string,
  certificate?: { readonly cert: string; readonly key: string },
): Promise<Forward> {
  const { port } = new URL(to);
  const pass = (inner: Socket) => {
    const outer = connect(Number(port), '127.0.0.1');
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on('error', () => (inner.destroy(), outer.destroy()));
  };
  const server = certificate === undefined ? createServer(pass) : createTlsServer(certificate, pass);
  await new Promise<void>(resolve => server.listen(0, address, resolve));
  const { port: own } = server.address() as AddressInfo;
  const scheme = certificate === undefined ? 'http' : 'https';
  return { url: `${scheme}://${address}:${own}`, stop: () => void server.close() };
}
