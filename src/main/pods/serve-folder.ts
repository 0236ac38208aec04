/** Serves a folder to the operator as a store over TLS, with the identity that the pod was given: what the helping pods have in common. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';
import { IDENTITY } from '../../objects/claim-store.ts';
import { openFileStore } from '../../store/file.ts';
import { type ServedStore, serveStore } from '../../store/served/server.ts';
import {
  boundConnections,
  type ConnectionLimits,
  serverOptions,
  STORE_LIMITS,
} from '../listeners/connections.ts';

export interface ServedFolder extends Pick<ServedStore, 'busy' | 'lastAsked'> {
  readonly server: Server;
}

export interface FolderListener {
  readonly port: number;
  /** The folder with the certificate, its key and the token. */
  readonly identity: string;
  readonly limits?: ConnectionLimits;
}

/**
 * Begins to listen.
 * @throws when a file of the identity is missing
 */
export function serveFolder(folder: string, listener: FolderListener): ServedFolder {
  const { port, identity, limits = STORE_LIMITS } = listener;
  const read = (file: string): string => readFileSync(join(identity, file), 'utf8');
  const { answer, busy, lastAsked } = serveStore(openFileStore(folder), read(IDENTITY.token));
  const pair = { cert: read(IDENTITY.cert), key: read(IDENTITY.key) };
  const server = createServer({ ...pair, ...serverOptions(limits) }, (request, response) => {
    void answer(request, response);
  });
  boundConnections(server, limits, error => console.error(`the listener: ${error.message}`));
  server.listen(port);
  return { server, busy, lastAsked };
}
