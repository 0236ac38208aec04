/**
 * Backups in two stores of two providers: the second one hangs while the first one goes on, operators are killed and Temporal is wiped over the copies, the first store is lost
 * with the cluster, and a restore brings all keys back from the second.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupEntry, Condition, EtcdBackup } from '../../../src/api/schemas/types.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import {
  awaitRunning,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  type World,
} from '../../stack/e2e.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { live } from '../../stack/stack-keys.ts';
import { blockOf, startStackStore, type StackStore } from '../../stack/stack-store.ts';

const NAMESPACE = 'second-store';
const CLUSTER = 'example';
const BACKUP = 'example-copied';
const REPLICAS = 2;
/** Kept in each store. */
const KEPT = 3;

let world: World;
let story: BackupStory;
let first: StackStore;
let second: StackStore;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  story = new BackupStory(world, NAMESPACE);
  first = await startStackStore(world, NAMESPACE, 'S3');
  second = await startStackStore(world, NAMESPACE, 'GCS');
  await freshOperators(world, REPLICAS);
  await world.kube.apply(manifest(NAMESPACE, CLUSTER, { size: 3, version: '3.6.16' }));
  await awaitRunning(world, { namespace: NAMESPACE, name: CLUSTER });
  await story.through(CLUSTER, live);
}, 600_000);
afterAll(async () => {
  await second?.stop();
  await leaveNamespace(world, NAMESPACE);
});

const history = async (): Promise<readonly BackupEntry[]> =>
  (await story.backup(BACKUP))?.status?.history ?? [];
const copied = async (): Promise<Condition | undefined> =>
  (await story.backup(BACKUP))?.status?.conditions?.find(({ type }) => type === 'Copied');

/** Waits until the status of the EtcdBackup says so; fails with the whole of it. */
function until(is: (backup: EtcdBackup) => boolean, timeoutMs: number): Promise<EtcdBackup> {
  return poll(
    async () => {
      const backup = await story.backup(BACKUP);
      return backup !== undefined && is(backup) ? backup : undefined;
    },
    { timeoutMs, otherwise: async () => JSON.stringify((await story.backup(BACKUP))?.status, null, 1) },
  );
}

const isEachInBoth = ({ status }: EtcdBackup): boolean =>
  (status?.history ?? []).length > 0 && (status?.history ?? []).every(({ heldIn }) => heldIn === 'Both');

/** What the status says of the second store is so, byte by byte. */
async function expectTruth(): Promise<void> {
  const [there, contents] = [await history(), await second.contents()];
  for (const { secondStore, sha256 } of there) {
    if (secondStore === undefined) continue;
    const bytes = contents.get(secondStore.location.replace('gs://bucket/', '')) ?? Buffer.from('');
    const sum = createHash('sha256').update(bytes).digest('hex');
    expect({ ...secondStore, sha256: sum }).toEqual({ ...secondStore, sha256 });
  }
}

async function killed(): Promise<void> {
  expect(killOperators(world)).toBeGreaterThan(0);
}

const wiped = (): Promise<void> => world.stack.temporal.wipe();

test('every backup is copied to the second store', async () => {
  await story.apply('EtcdBackup', BACKUP, {
    clusterRef: { name: CLUSTER },
    storageType: 'S3',
    ...blockOf(first, 'bucket/etcd/example'),
    secondStore: { storageType: 'GCS', ...blockOf(second, 'bucket/far/example') },
    backupPolicy: { backupIntervalInSecond: 30, maxBackups: KEPT },
  });
  await story.backedUp(BACKUP);
  await until(isEachInBoth, 120_000);
  expect(await copied()).toMatchObject({ status: 'True', reason: 'AllCopied' });
  await expectTruth();
}, 300_000);

test('a second store that hangs holds back no backup, and is caught up though operators are killed and Temporal is wiped over it', async () => {
  const begun = (await history())[0]?.time ?? '';
  second.front.fault = ({ method }) => (method === 'POST' || method === 'PUT' ? { kind: 'hang' } : undefined);
  // Three backups in a row are made on time.
  const newer = ({ status }: EtcdBackup) => (status?.history ?? []).filter(({ time }) => time > begun);
  const { status } = await until(backup => newer(backup).length >= KEPT, 240_000);
  expect(status?.conditions?.find(({ type }) => type === 'OnSchedule')).toMatchObject({ status: 'True' });
  expect(status?.secondStore?.behind).toBeGreaterThan(0);
  await expectTruth();
  expect(killOperators(world)).toBeGreaterThan(0);
  // It is slow from now on, and they are killed in the middle of a copy.
  second.front.fault = ({ method }) =>
    method === 'POST' || method === 'PUT' ? { kind: 'slow', bytesPerSecond: 8_192 } : undefined;
  await until(({ status: now }) => (now?.secondStore?.behind ?? 0) > 0, 120_000);
  // Temporal forgets everything in the middle of the last one.
  for (const strike of [killed, killed, wiped]) {
    const seen = second.front.requests;
    await poll(async () => second.front.requests > seen, { timeoutMs: 180_000 });
    await strike();
    await expectTruth();
  }
  second.front.reset();
  await until(({ status: now }) => now?.secondStore?.behind === 0, 300_000);
  await expectTruth();
}, 1_200_000);

test('the retention holds in both stores', async () => {
  await until(isEachInBoth, 300_000);
  const objects = async (store: StackStore) =>
    [...(await store.contents()).keys()].filter(key => !key.endsWith('.json')).length;
  await poll(async () => (await objects(first)) <= KEPT + 1 && (await objects(second)) <= KEPT + 1, {
    timeoutMs: 120_000,
    otherwise: async () =>
      `${await objects(first)} in the first store, ${await objects(second)} in the second`,
  });
}, 480_000);

test('the cluster and the first store are lost: a restore reads the second, and operators are killed and Temporal is wiped over it', async () => {
  await world.stack.kubectl(
    ...['-n', NAMESPACE, 'patch', 'etcdbackup', BACKUP, '--type=merge'],
    ...['-p', JSON.stringify({ spec: { backupPolicy: { suspend: true } } })],
  );
  await until(backup => backup.status?.phase === 'Suspended' && isEachInBoth(backup), 120_000);
  const before = await story.keysOf(CLUSTER);
  await first.stop();
  await story.loseAll(CLUSTER);
  await story.apply('EtcdRestore', 'back', { etcdCluster: { name: CLUSTER }, backupRef: { name: BACKUP } });
  const read = () =>
    world.stack.kubectl('-n', NAMESPACE, 'get', 'etcdrestore', 'back', '-o', 'jsonpath={.status}');
  for (const [phase, strike] of [
    ['Validating', killed],
    ['Seeding', wiped],
    ['Growing', killed],
  ] as const) {
    await poll(async () => (await read()).includes(`"phase":"${phase}"`), {
      timeoutMs: 600_000,
      otherwise: read,
    });
    await strike();
  }
  const { status } = await story.restored('back', 900_000);
  expect(status).toMatchObject({ phase: 'Succeeded', source: { store: 'Second' } });
  expect(status?.source?.location).toMatch(/^gs:\/\/bucket\/far\/example/);
  expect(status?.source?.because).toContain('attempts');
  const newest = (await history()).find(
    ({ secondStore }) => secondStore?.location === status?.source?.location,
  );
  expect(status?.source?.sha256).toBe(newest?.sha256);
  expect(await story.contentAfterRestore(CLUSTER, before)).toEqual({ keys: before.keys, isRaised: true });
}, 1_800_000);
