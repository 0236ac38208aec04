/**
 * Restores in place while what carries them out is killed, wiped or away: whatever is done, the backup is there in the end, key
 * by key and by revision, nothing was called done before it was, and no volume of the members before is lost.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientServiceName } from '../../../src/api/names.ts';
import type { EtcdRestore } from '../../../src/api/types.ts';
import { dial } from '../../support/drill/connection.ts';
import { readyEndpoints } from '../../support/drill/endpoints.ts';
import { contradictions, type Written } from '../../support/drill/journal.ts';
import { openOperations, type Operations } from '../../support/drill/operations.ts';
import { readValues } from '../../support/drill/stored.ts';
import type { ActivityName } from '../../support/drill/timeline.ts';
import {
  awaitRunning,
  claimsOf,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  readCluster,
  type World,
} from '../../support/e2e.ts';
import { forward } from '../../support/forward.ts';
import { freshOperators, killOperators } from '../../support/operator-processes.ts';
import { poll } from '../../support/poll.ts';
import { Restores } from '../../support/restores.ts';
import { S3_KEYS, startVersity } from '../../support/store-servers.ts';

const NAMESPACE = 'drill-restore';
const at = { namespace: NAMESPACE, name: 'example' };
const SIZE = 3;
const REPLICAS = 2;
const BUMP = 1_000_000_000;
const KEYS = 300;
const PREFIX = 'kept';

let world: World;
let restores: Restores;
let operations: Operations;
let kept: readonly Written[];
let revision = 0;
let count = 0;

beforeAll(async () => {
  world = await openWorld();
  restores = new Restores(world, NAMESPACE);
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, at.name, { size: SIZE, version: '3.6.16' }));
  await restores.createClaim();
  await awaitRunning(world, at, 200_000);
  operations = await openOperations(world, at);
  kept = await write(KEYS);
  ({ revision = 0 } = await restores.backUp('once', at.name));
}, 300_000);
afterAll(async () => {
  await operations?.close();
  await leaveNamespace(world, NAMESPACE);
});

async function write(keys: number): Promise<readonly Written[]> {
  const [endpoint = ''] = await readyEndpoints(world, NAMESPACE, at.name);
  const etcd = dial(endpoint);
  try {
    const written: Written[] = [];
    for (let id = 0; id < keys; id += 1) {
      const [key, value] = [`${PREFIX}/${id}`, `value ${id}`];
      const { header } = await etcd.put(key).value(value);
      written.push({ key, value, revision: Number(header.revision) });
    }
    return written;
  } finally {
    etcd.close();
  }
}

/** Asks for the backup to be put in place of what there is now; answers the name of the EtcdRestore. */
async function begin(): Promise<string> {
  count += 1;
  const name = `back-${count}`;
  const cluster = await readCluster(world, NAMESPACE, at.name);
  await restores.etcdctl(at.name, 'put', `${PREFIX}/late`, 'after the backup');
  await restores.begin(name, {
    etcdCluster: { name: at.name },
    backupRef: { name: 'once', at: 'Latest' },
    confirmClusterID: cluster?.status?.clusterID ?? '',
  });
  return name;
}

/** What must hold as soon as it says that it has succeeded. */
async function whole(name: string): Promise<EtcdRestore> {
  const restore = await restores.ended(name, 400_000);
  expect(restore.status).toMatchObject({ phase: 'Succeeded', succeeded: true });
  const service = await world.stack.kubectl('-n', NAMESPACE, 'get', 'service', clientServiceName(at.name));
  expect(service).toContain('2379');
  const endpoints = await readyEndpoints(world, NAMESPACE, at.name);
  expect(endpoints).toHaveLength(SIZE);
  for (const endpoint of endpoints) {
    const values = await readValues(endpoint, PREFIX);
    expect(contradictions(kept, values, { revision, bump: BUMP })).toEqual([]);
    expect(values).toHaveLength(KEYS);
  }
  return restore;
}

/** Does a whole restore with something done to it on the way. */
async function restored(title: string, disturb: (name: string) => Promise<void>): Promise<void> {
  const claims = await disks();
  const begun = performance.now();
  const name = await begin();
  await disturb(name);
  await whole(name);
  console.log(`${title}: whole after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  expect(await disks()).toEqual(expect.arrayContaining(claims));
  await awaitRunning(world, at);
}

async function disks(): Promise<string[]> {
  const claims = await claimsOf(world, NAMESPACE, at.name);
  return claims.map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
}

const completed = (before: Awaited<ReturnType<Operations['newest']>>, name: ActivityName, times = 1) =>
  operations.await('restoreCluster', before, run => run.completed.filter(is => is === name).length >= times);

test('operators killed with -9 again and again: after every activity of a restore once', async () => {
  await freshOperators(world, REPLICAS);
  const first = await operations.newest();
  await restored('nobody killed', async name => void (await restores.ended(name)));
  const run = await operations.newest();
  expect(run).toMatchObject({ operation: 'restoreCluster' });
  expect(run?.runId).not.toBe(first?.runId);
  const activities = [...new Set(run?.completed ?? [])].filter(name => name !== 'assess');
  console.log(`activities: ${activities.join(', ')}`);
  for (const turn of [0, 1, 2]) {
    const killed = activities.filter((_, index) => index % 3 === turn);
    await freshOperators(world, REPLICAS);
    const before = await operations.newest();
    await restored(`operators killed after ${killed.join(', ')}`, async () => {
      for (const name of killed) {
        await completed(before, name);
        expect(killOperators(world)).toBeGreaterThan(0);
      }
    });
  }
}, 1_800_000);

test('operators killed while the backup is examined', async () => {
  await freshOperators(world, REPLICAS);
  await restored('operators killed while the backup is examined', async name => {
    await restores.until(name, ({ phase }) => phase === 'Validating');
    expect(killOperators(world)).toBeGreaterThan(0);
  });
}, 600_000);

test('Temporal is wiped in the middle', async () => {
  await freshOperators(world, REPLICAS);
  const before = await operations.newest();
  await restored('Temporal wiped in the middle', async () => {
    await completed(before, 'switchIncarnation');
    await operations.close();
    await world.stack.temporal.wipe();
  });
  operations = await openOperations(world, at);
}, 600_000);

test('the API server is away in the middle', async () => {
  const before = await operations.newest();
  await restored('API server away for half a minute', async () => {
    await completed(before, 'switchIncarnation');
    await world.stack.apiserver.stop();
    const begun = performance.now();
    await poll(async () => performance.now() - begun > 30_000, { timeoutMs: 60_000 });
    await world.stack.apiserver.start();
  });
}, 600_000);

test('aborted before the new members have a cluster: the old ones are back, with what was written last', async () => {
  const members = async () => (await readCluster(world, NAMESPACE, at.name))?.status?.members?.ready ?? [];
  const old = {
    id: (await readCluster(world, NAMESPACE, at.name))?.status?.clusterID,
    members: await members(),
  };
  const claims = await disks();
  const before = await operations.newest();
  const begun = performance.now();
  const name = await begin();
  await completed(before, 'switchIncarnation');
  await operations.signal('abort');
  const { status } = await restores.ended(name);
  expect(status).toMatchObject({ phase: 'Failed', succeeded: false });
  expect(status?.reason).toContain('aborted by drill');
  const cluster = await poll(
    async () => {
      const found = await readCluster(world, NAMESPACE, at.name);
      return found?.status?.clusterID === old.id ? found : undefined;
    },
    { timeoutMs: 120_000 },
  );
  expect(cluster.status?.clusterID).toBe(old.id);
  await awaitRunning(world, at);
  console.log(`aborted: back after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  expect(await members()).toEqual(old.members);
  expect(await restores.etcdctl(at.name, 'get', `${PREFIX}/late`, '--print-value-only')).toBe(
    'after the backup',
  );
  await poll(async () => JSON.stringify(await disks()) === JSON.stringify(claims), {
    timeoutMs: 60_000,
    otherwise: async () => `the claims are ${(await disks()).join()} and were ${claims.join()}`,
  });
  // The abort was of that restore, and of no other.
  await restored('the next one', async again => void (await restores.ended(again)));
}, 600_000);

test('the store is away when its backup is to be fetched', async () => {
  const server = await startVersity();
  const bridge = world.stack.temporalAddress.replace(/\.\d+:\d+$/, '.1');
  const through = await forward(bridge, server.front.url);
  try {
    const credentials = `[default]\naws_access_key_id = ${S3_KEYS.access}\naws_secret_access_key = ${S3_KEYS.secret}\n`;
    await world.kube.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: 'aws' },
      stringData: { credentials, config: '[default]\nregion = us-east-1\n' },
    } as Parameters<World['kube']['apply']>[0]);
    const s3 = { path: 'bucket/etcd/once', awsSecret: 'aws', endpoint: through.url, forcePathStyle: true };
    await restores.etcdctl(at.name, 'del', '--prefix', PREFIX);
    kept = await write(KEYS);
    ({ revision = 0 } = await restores.backUp('in-s3', at.name, { storageType: 'S3', s3 }));
    const before = await operations.newest();
    const claims = await disks();
    const cluster = await readCluster(world, NAMESPACE, at.name);
    await restores.begin('from-s3', {
      etcdCluster: { name: at.name },
      backupStorageType: 'S3',
      s3,
      confirmClusterID: cluster?.status?.clusterID ?? '',
    });
    await completed(before, 'fenceMembers');
    server.front.fault = () => ({ kind: 'status', status: 503 });
    const { status } = await restores.until('from-s3', ({ step }) =>
      /S3|bucket|store|connection/i.test(step ?? ''),
    );
    console.log(`store away: ${status?.step}`);
    expect(status?.succeeded).not.toBe(true);
    server.front.reset();
    await whole('from-s3');
    expect(await disks()).toEqual(expect.arrayContaining(claims));
  } finally {
    through.stop();
    await server.stop();
  }
}, 600_000);
