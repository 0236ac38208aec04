/**
 * What runs in the pod that lends a claim to the operator: serves the mounted folder, and ends by itself when nobody has
 * asked for anything for a while, so that no claim stays mounted after an operator that died.
 */
import { CLAIM_FOLDER, CLAIM_STORE_PORT, IDENTITY_FOLDER } from '../objects/claim-store.ts';
import { serveFolder } from './pods/serve-folder.ts';

const IDLE_MS = 10 * 60_000;
const CHECK_MS = 15_000;

const { server, busy, lastAsked } = serveFolder(CLAIM_FOLDER, {
  port: CLAIM_STORE_PORT,
  identity: IDENTITY_FOLDER,
});

const end = (): void => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
};
setInterval(() => {
  if (busy() === 0 && performance.now() - lastAsked() > IDLE_MS) end();
}, CHECK_MS);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
