/**
 * Restores in place while what carries them out is killed, wiped or away: whatever is done, the backup is there in the end, key
 * by key and by revision, nothing was called done before it was, and no volume of the members before is lost.
 */
import { withoutApiserver } from '../../stack/drill/apiserver-away.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RestoreDrill, restored, takenBack, whole } from '../../stack/drill/restore-drill.ts';
import { sweepRestores } from '../../stack/drill/restore-sweep.ts';
import type { World } from '../../stack/e2e.ts';
import { forward } from '../../stack/forward.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import type { Restores } from '../../stack/restores.ts';
import { S3_KEYS, startVersity } from '../../stack/store-servers.ts';

const REPLICAS = 2;
let drill: RestoreDrill;
let world: World;
let restores: Restores;

beforeAll(async () => {
  drill = await RestoreDrill.on('drill-restore');
  ({ world, restores } = drill);
}, 300_000);
afterAll(() => drill?.close());

test('a restore survives kill -9 of all operators after each of its activities, and Temporal wiped in the middle', async () => {
  await sweepRestores(world, drill.at, (title, disturb) => restored(drill, title, disturb));
  await drill.operations.close();
  await drill.reopen();
}, 1_800_000);

test('operators killed while the backup is examined', async () => {
  await freshOperators(world, REPLICAS);
  await restored(drill, 'operators killed while the backup is examined', async name => {
    await restores.until(name, ({ phase }) => phase === 'Validating');
    expect(killOperators(world)).toBeGreaterThan(0);
  });
}, 600_000);

test('operators killed while a pod tries the images', async () => {
  await freshOperators(world, REPLICAS);
  await restored(drill, 'operators killed while the images are tried', async () => {
    await poll(
      async () => {
        const pods = await world.kube.list(
          { apiVersion: 'v1', kind: 'Pod' },
          { namespace: drill.at.namespace },
        );
        return pods.items.some(({ metadata }) => metadata.name.endsWith('-images'));
      },
      { timeoutMs: 120_000, intervalMs: 50 },
    );
    expect(killOperators(world)).toBeGreaterThan(0);
  });
}, 600_000);

test('the API server is away in the middle', async () => {
  const before = await drill.operations.newest();
  await restored(drill, 'API server away for half a minute', async () => {
    await drill.completed(before, 'switchIncarnation');
    await withoutApiserver(world, async () => {
      const begun = performance.now();
      await poll(async () => performance.now() - begun > 30_000, { timeoutMs: 60_000 });
    });
  });
}, 600_000);

test('aborted before the new members have a cluster: the old ones are back, with what was written last', async () => {
  const before = await drill.operations.newest();
  await takenBack(drill, { title: 'aborted', by: 'drill' }, async () => {
    await drill.completed(before, 'switchIncarnation');
    await drill.operations.signal('abort');
  });
  // The abort was of that restore, and of no other.
  await restored(drill, 'the next one', async again => void (await restores.ended(again)));
}, 600_000);

test('the store is away when its backup is to be fetched', async () => {
  const { at } = drill;
  const server = await startVersity();
  const bridge = world.stack.temporalAddress.replace(/\.\d+:\d+$/, '.1');
  const through = await forward(bridge, server.front.url);
  try {
    const credentials = `[default]\naws_access_key_id = ${S3_KEYS.access}\naws_secret_access_key = ${S3_KEYS.secret}\n`;
    await world.kube.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: at.namespace, name: 'aws' },
      stringData: { credentials, config: '[default]\nregion = us-east-1\n' },
    } as Parameters<World['kube']['apply']>[0]);
    const s3 = { path: 'bucket/etcd/once', awsSecret: 'aws', endpoint: through.url, forcePathStyle: true };
    await drill.forget();
    await drill.keep(() => restores.backUp('in-s3', at.name, { storageType: 'S3', s3 }));
    const before = await drill.operations.newest();
    const claims = await drill.disks();
    await restores.begin('from-s3', {
      etcdCluster: { name: at.name },
      backupStorageType: 'S3',
      s3,
      confirmClusterID: (await drill.clusterId()) ?? '',
    });
    await drill.completed(before, 'fenceMembers');
    server.front.fault = () => ({ kind: 'status', status: 503 });
    const { status } = await restores.until('from-s3', ({ step }) =>
      /S3|bucket|store|connection/i.test(step ?? ''),
    );
    console.log(`store away: ${status?.step}`);
    expect(status?.succeeded).not.toBe(true);
    server.front.reset();
    await whole(drill, 'from-s3');
    expect(await drill.disks()).toEqual(expect.arrayContaining([...claims]));
  } finally {
    through.stop();
    await server.stop();
  }
}, 600_000);
