/**
 * What the operator and its pods do with large files, as tasks of a process of their own, so that its memory is theirs alone.
 * `save <host> <port> <folder> <key>`, `bring <folder> <key> <port> <authority>`, `serve <folder> <certificate> <key>`.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { examine, snapshotIn } from '../../src/activities/backup/examined-object.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import { verifiedSnapshot } from '../../src/etcd/verified-snapshot.ts';
import { CLAIM_STORE_HOST } from '../../src/objects/claim-store.ts';
import { SNAPSHOT_KEY } from '../../src/objects/seed-pod.ts';
import { openFileStore } from '../../src/store/file.ts';
import { openServedStore } from '../../src/store/served/client.ts';
import { serveStore } from '../../src/store/served/server.ts';

const TOKEN = 'bench';
const KIB_OF_MIB = 1024;
const bounds = { signal: new AbortController().signal, deadlineMs: 600_000 };
const [, , task, ...args] = process.argv;
const argument = (index: number): string => args[index] ?? '';

/** A snapshot of a member, into a file. */
async function save(): Promise<void> {
  const [host, port, folder, key] = [argument(0), Number(argument(1)), argument(2), argument(3)];
  const member = createEtcdPort().member({ host, port, serverName: host });
  try {
    await member.linearizableRead();
    const snapshot = verifiedSnapshot(member.snapshot(bounds));
    await openFileStore(folder).put(key, snapshot.bytes, bounds);
    snapshot.proof();
  } finally {
    member.close();
  }
}

/** A backup that is examined in its store, and brought to a pod that has the volume. */
async function bring(): Promise<void> {
  const [folder, key, port, ca] = [argument(0), argument(1), Number(argument(2)), argument(3)];
  const store = openFileStore(folder);
  const object = { key, location: `${store.location}/${key}` };
  const opened = { store, object } as Parameters<typeof examine>[0];
  const source = await examine(opened, bounds);
  const volume = openServedStore({
    location: 'file://volume',
    host: '127.0.0.1',
    port,
    serverName: CLAIM_STORE_HOST,
    ca: readFileSync(ca, 'utf8'),
    token: TOKEN,
  });
  await volume.put(SNAPSHOT_KEY, snapshotIn(opened, source, bounds), bounds);
  await volume.close();
}

/** A folder, until this process is ended. Prints its port. */
function serve(): void {
  const identity = { cert: readFileSync(argument(1)), key: readFileSync(argument(2)) };
  const store = serveStore(openFileStore(argument(0)), TOKEN);
  const server = createServer(identity, (request, response) => void store.answer(request, response));
  server.requestTimeout = 0;
  process.once('SIGTERM', () => process.exit(0));
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
}

if (task === 'serve') serve();
else {
  const begun = performance.now();
  await (task === 'save' ? save() : bring());
  const seconds = (performance.now() - begun) / 1000;
  console.log(JSON.stringify({ seconds, peakMebibytes: process.resourceUsage().maxRSS / KIB_OF_MIB }));
}
