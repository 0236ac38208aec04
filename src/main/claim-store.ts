/**
 * What runs in the pod that lends a claim to the operator: serves the mounted folder, and ends by itself when nobody has
 * asked for anything for a while, so that no claim stays mounted after an operator that died.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { CLAIM_FOLDER, CLAIM_STORE_PORT, IDENTITY, IDENTITY_FOLDER } from '../objects/claim-store.ts';
import { openFileStore } from '../store/file.ts';
import { serveStore } from '../store/served/server.ts';

const IDLE_MS = 10 * 60_000;
const LOOK_MS = 15_000;

const read = (file: string): string => readFileSync(join(IDENTITY_FOLDER, file), 'utf8');
const answer = serveStore(openFileStore(CLAIM_FOLDER), read(IDENTITY.token));
let busy = 0;
let lastAsked = performance.now();

const server = createServer({ cert: read(IDENTITY.cert), key: read(IDENTITY.key) }, (request, response) => {
  busy += 1;
  void answer(request, response).finally(() => {
    busy -= 1;
    lastAsked = performance.now();
  });
});
// A snapshot may take as long as it takes.
server.requestTimeout = 0;
server.listen(CLAIM_STORE_PORT);

const end = (): void => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
};
setInterval(() => {
  if (busy === 0 && performance.now() - lastAsked > IDLE_MS) end();
}, LOOK_MS);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
