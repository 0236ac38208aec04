/** The beginning and the end of a listener. */
import type { Server } from 'node:http';

/** A listening server; `port` is the real one when 0 was asked for. */
export interface PageServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Listens on an address, on all of them when there is none; answers the port.
 * @throws when the port is taken
 */
export async function listen(server: Server, port: number, host?: string): Promise<PageServer> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
