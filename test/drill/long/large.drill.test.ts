/**
 * A cluster with 1 GiB of data: members join, it is backed up and the backup verified by a restore on the side, what has no room
 * for it is refused, and it is restored in place. Each test prints how long that took.
 */
import { readFileSync } from 'node:fs';
import type { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import {
  awaitRunning,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  podsOf,
  readCluster,
  type World,
} from '../../stack/e2e.ts';
import { freshOperators, operatorProcesses } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'large';
const CLUSTER = 'large';
const VALUES = 1024;
const VALUE_BYTES = 2 ** 20;
const MINUTE = 60_000;
const at = { namespace: NAMESPACE, name: CLUSTER };

let world: World;
let story: BackupStory;
beforeAll(async () => {
  world = await openWorld();
  story = new BackupStory(world, NAMESPACE);
  await createNamespace(world, NAMESPACE);
  await freshOperators(world, 1);
  await world.kube.apply(claim('backups', '2Gi'));
  await world.kube.apply(sized(1));
  await awaitRunning(world, at);
  await story.through(CLUSTER, fill);
});
afterAll(() => leaveNamespace(world, NAMESPACE));

function claim(name: string, storage: string) {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: NAMESPACE, name },
    spec,
  } as Parameters<World['kube']['apply']>[0];
}

function storageOf(storage: string) {
  return {
    volumeClaimTemplate: {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    },
  };
}

const sized = (size: number) =>
  manifest(NAMESPACE, CLUSTER, { size, version: '3.6.16', storage: storageOf('4Gi') });

/** Values that compress no better than data does, each of its own. */
async function fill(etcd: Etcd3): Promise<void> {
  for (let key = 0; key < VALUES; key += 1) await etcd.put(`large/${key}`).value(valueOf(key));
}

function valueOf(key: number): Buffer {
  return Buffer.alloc(VALUE_BYTES, `${key} `);
}

/** What is there of a few of them, spread over all. */
async function sampleOf(etcd: Etcd3): Promise<{ readonly count: number; readonly wrong: number[] }> {
  const count = await etcd.getAll().prefix('large/').count();
  const wrong: number[] = [];
  for (let key = 0; key < VALUES; key += 97) {
    const value = await etcd.get(`large/${key}`).buffer();
    if (value === null || !value.equals(valueOf(key))) wrong.push(key);
  }
  return { count, wrong };
}

const whole = { count: VALUES, wrong: [] };

async function timed<T>(what: string, act: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await act();
  console.log(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s; ${operatorMemory()}`);
  return result;
}

/** The most that the operator's process has had in memory. */
function operatorMemory(): string {
  const peaks = operatorProcesses(world).map(pid => {
    const peak = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return `${(Number(peak) / 1024).toFixed(0)} MiB`;
  });
  return `the operator's peak: ${peaks.join(', ')}`;
}

test('two members join and receive the database', async () => {
  await timed('joined by two members', async () => {
    await world.kube.apply(sized(3));
    await poll(async () => (await podsOf(world, NAMESPACE, CLUSTER)).length === 3, { timeoutMs: 5 * MINUTE });
    await awaitRunning(world, at, 5 * MINUTE);
  });
  expect(await story.through(CLUSTER, sampleOf)).toEqual(whole);
});

test('it is backed up, and the backup restored on the side', async () => {
  await story.apply('EtcdBackup', 'large', {
    clusterRef: { name: CLUSTER },
    storageType: 'File',
    file: { claim: 'backups', path: 'large' },
    verify: 'Restore',
  });
  const { status } = await timed('backed up and verified', () =>
    story.backedUp('large', 'Succeeded', 8 * MINUTE),
  );
  const [entry] = status?.history ?? [];
  console.log(`of that the backup: ${entry?.duration}, ${entry?.size} bytes`);
  expect(entry).toMatchObject({ verified: 'Restore' });
  expect(entry?.size).toBeGreaterThan(VALUES * VALUE_BYTES);
});

test('volumes without room for it are refused, and nothing is made of them', async () => {
  await story.apply('EtcdRestore', 'tight', {
    etcdCluster: { name: 'tight' },
    backupRef: { name: 'large', at: 'Latest' },
    clusterTemplate: { size: 1, version: '3.6.16', storage: storageOf('2Gi') },
  });
  const restore = async (): Promise<string> =>
    JSON.stringify(
      await world.kube.get({
        apiVersion: API_VERSION,
        kind: 'EtcdRestore',
        namespace: NAMESPACE,
        name: 'tight',
      }),
    );
  await poll(async () => (await restore()).includes('needs volumes of at least') || undefined, {
    timeoutMs: 3 * MINUTE,
    otherwise: restore,
  });
  expect(await podsOf(world, NAMESPACE, 'tight')).toEqual([]);
});

test('it is restored in place', async () => {
  const before = await readCluster(world, NAMESPACE, CLUSTER);
  await story.through(CLUSTER, async etcd => {
    await etcd.delete().prefix('large/');
  });
  await timed('restored in place, three members again', async () => {
    await story.apply('EtcdRestore', 'back', {
      etcdCluster: { name: CLUSTER },
      backupRef: { name: 'large', at: 'Latest' },
      confirmClusterID: before?.status?.clusterID ?? '',
    });
    const { status } = await story.restored('back', 10 * MINUTE);
    expect(status).toMatchObject({ phase: 'Succeeded', succeeded: true });
    await awaitRunning(world, at, 5 * MINUTE);
  });
  expect(await story.through(CLUSTER, sampleOf)).toEqual(whole);
});
