/**
 * What runs in the pod that verifies a backup: takes the snapshot from the operator, reads it, and says in its termination
 * message what it found. Usage: verify.js Structure|Restore <revision>
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CLAIM_STORE_PORT, IDENTITY_FOLDER } from '../objects/claim-store.ts';
import { SCRATCH_FOLDER, SCRATCH_SNAPSHOT } from '../objects/verify-pod.ts';
import type { VerificationReport } from '../planner/backup/verification.ts';
import { serveFolder } from './pods/serve-folder.ts';
import { findTools, fileExists, verifySnapshot } from './pods/verification.ts';
import { messageOf } from '../api/values/message-of.ts';

const TERMINATION_LOG = '/dev/termination-log';
const CHECK_MS = 100;
const [, , level = '', revision = ''] = process.argv;
const snapshot = join(SCRATCH_FOLDER, SCRATCH_SNAPSHOT);

/** Serves the scratch until the snapshot lies in it, whole, and its sender got the answer. */
async function receive(): Promise<void> {
  const { server, busy } = serveFolder(SCRATCH_FOLDER, { port: CLAIM_STORE_PORT, identity: IDENTITY_FOLDER });
  while (busy() > 0 || !(await fileExists(snapshot))) await pause(CHECK_MS);
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
    return { kind: 'trouble', message: messageOf(error) };
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1));
await writeFile(TERMINATION_LOG, JSON.stringify(await verify()));
process.exit(0);
