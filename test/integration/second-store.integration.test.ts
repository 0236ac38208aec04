/** Copies of backups between real servers of stores: in parts, cut off in the middle, and away. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { snapshotStream } from '../fakes/etcd/snapshot.ts';
import { S3_KEYS, startVersity, type StoreServer } from '../stack/store-servers.ts';
import { BackupWorld, SECOND_STORE, SPEC } from '../worlds/backup-world.ts';

/** Three parts. */
const DATABASE = Buffer.alloc(20 * 1024 * 1024, 'etcd');
const SECRET = {
  credentials: `[default]\naws_access_key_id = ${S3_KEYS.access}\naws_secret_access_key = ${S3_KEYS.secret}\n`,
  config: '[default]\nregion = us-east-1\n',
};

let first: StoreServer;
let second: StoreServer;
beforeAll(async () => {
  [first, second] = await Promise.all([startVersity(), startVersity()]);
}, 60_000);
afterAll(async () => {
  await first?.stop();
  await second?.stop();
});
beforeEach(() => {
  first.front.reset();
  second.front.reset();
});

const opened = ({ front }: StoreServer): Promise<Store> =>
  openStore({ type: 'S3', path: 'bucket/x', endpoint: front.url, forcePathStyle: true }, SECRET, {
    attempts: 1,
  });

/** An EtcdBackup whose stores are the two servers; each test has a path of its own. */
function aWorld(name: string): BackupWorld {
  const world = new BackupWorld({
    ...SPEC,
    s3: { path: `bucket/near/${name}` },
    secondStore: { ...SECOND_STORE, s3: { path: `copies/far/${name}` } },
  });
  world.etcd.snapshotOf = () => snapshotStream(DATABASE, 1_000_000);
  world.openReal = ({ spec }) => opened(spec.s3?.path.startsWith('copies/') === true ? second : first);
  return world;
}

async function sumIn(server: StoreServer, key: string): Promise<string | undefined> {
  const store = await opened(server);
  try {
    if ((await store.head(key)) === undefined) return undefined;
    const hash = createHash('sha256');
    for await (const chunk of (await store.get(key)).body) hash.update(chunk);
    return hash.digest('hex');
  } finally {
    await store.close();
  }
}

test('a backup of several parts is copied to another server, and has its bytes there', async () => {
  const world = aWorld('parts');
  await world.run();
  expect(world.status.history).toMatchObject([{ heldIn: 'Both', size: DATABASE.length + 32 }]);
  expect(await sumIn(second, 'far/parts')).toBe(world.status.history?.[0]?.sha256);
}, 60_000);

test('a copy that is ended in the middle leaves neither an object nor parts', async () => {
  const world = aWorld('ended');
  let parts = 0;
  second.front.fault = ({ method, path }) => {
    if (method !== 'PUT' || !path.includes('partNumber')) return undefined;
    parts += 1;
    return parts > 1 ? { kind: 'hang' } : undefined;
  };
  const run = world.run();
  await vi.waitFor(() => expect(parts).toBeGreaterThan(1), { timeout: 30_000, interval: 50 });
  await world.delete();
  await run.catch(() => undefined);
  expect(await sumIn(second, 'far/ended')).toBeUndefined();
  expect(await second.uploadsOf?.('far/ended')).toBe(0);
}, 60_000);

test('a second server that is away fails no backup, and gets the copy when it is back', async () => {
  const world = aWorld('away');
  second.front.fault = () => ({ kind: 'status', status: 503 });
  await world.run();
  expect(world.status).toMatchObject({
    succeeded: true,
    history: [{ heldIn: 'First' }],
    secondStore: { behind: 1, reason: 'SecondStoreUnavailable' },
  });
  second.front.reset();
  world.now += 3_600_000;
  await world.run();
  expect(world.status.history).toMatchObject([{ heldIn: 'Both' }]);
  expect(await sumIn(second, 'far/away')).toBe(world.status.history?.[0]?.sha256);
}, 60_000);

test('a first server that changes a bit on the way gives the second no copy', async () => {
  const world = aWorld('flipped');
  second.front.fault = () => ({ kind: 'status', status: 503 });
  await world.run();
  second.front.reset();
  first.front.fault = ({ method, path }) =>
    method === 'GET' && /near\/flipped($|\?)/.test(path) ? { kind: 'flip', byte: 1_000 } : undefined;
  world.now += 3_600_000;
  await world.run();
  expect(world.status).toMatchObject({
    history: [{ heldIn: 'First' }],
    secondStore: { reason: 'FirstStoreUnreadable' },
  });
  expect(await sumIn(second, 'far/flipped')).toBeUndefined();
  expect(await second.uploadsOf?.('far/flipped')).toBe(0);
}, 60_000);
