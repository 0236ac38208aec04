/**
 * What runs in the pod that verifies a backup: takes the snapshot from the operator, reads it, and says in its termination
 * message what it found. Usage: verify.js Structure|Restore <revision>
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CLAIM_STORE_PORT, IDENTITY, IDENTITY_FOLDER } from '../objects/claim-store.ts';
import { SCRATCH_FOLDER, SCRATCH_SNAPSHOT } from '../objects/verify-pod.ts';
import type { VerificationReport } from '../planner/backup/verification.ts';
import { openFileStore } from '../store/file.ts';
import { serveStore } from '../store/served/server.ts';
import { findTools, isThere, verifySnapshot } from './verification.ts';

const TERMINATION_LOG = '/dev/termination-log';
const LOOK_MS = 100;
const [, , level = '', revision = ''] = process.argv;
const snapshot = join(SCRATCH_FOLDER, SCRATCH_SNAPSHOT);

/** Serves the scratch until the snapshot lies in it, whole, and whoever brought it has been told. */
async function receive(): Promise<void> {
  const read = (file: string): string => readFileSync(join(IDENTITY_FOLDER, file), 'utf8');
  const answer = serveStore(openFileStore(SCRATCH_FOLDER), read(IDENTITY.token));
  let busy = 0;
  const server = createServer({ cert: read(IDENTITY.cert), key: read(IDENTITY.key) }, (request, response) => {
    busy += 1;
    response.once('close', () => (busy -= 1));
    void answer(request, response);
  });
  // A snapshot may take as long as it takes.
  server.requestTimeout = 0;
  server.listen(CLAIM_STORE_PORT);
  while (busy > 0 || !(await isThere(snapshot))) await pause(LOOK_MS);
  server.close();
  server.closeAllConnections();
}

async function verify(): Promise<VerificationReport> {
  try {
    await receive();
    const tools = await findTools();
    return await verifySnapshot({
      tools,
      folder: SCRATCH_FOLDER,
      snapshot,
      restore: level === 'Restore',
      revision,
      ports: { client: 2379, peer: 2380 },
    });
  } catch (error) {
    return { kind: 'trouble', message: error instanceof Error ? error.message : String(error) };
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1));
await writeFile(TERMINATION_LOG, JSON.stringify(await verify()));
process.exit(0);
