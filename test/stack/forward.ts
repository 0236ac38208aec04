/** Makes a server of this machine's loopback reachable for the pods of a stack, which know only the stack's bridge. */
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface Forward {
  /** As pods reach it. */
  readonly url: string;
  stop(): void;
}

/**
 * @param address the address of the bridge
 * @param to the URL on loopback
 */
export async function forward(address: string, to: string): Promise<Forward> {
  const { port } = new URL(to);
  const server = createServer(inner => {
    const outer = connect(Number(port), '127.0.0.1');
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on('error', () => (inner.destroy(), outer.destroy()));
  });
  await new Promise<void>(resolve => server.listen(0, address, resolve));
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://${address}:${own}`, stop: () => void server.close() };
}
