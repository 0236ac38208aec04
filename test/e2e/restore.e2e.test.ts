/** Restores by the deployed operator: in place over a cluster that lives, and into a new cluster. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdBackup, EtcdBackupSpec, EtcdRestore, EtcdRestoreSpec } from '../../src/api/types.ts';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  createNamespace,
  manifest,
  openWorld,
  podsOf,
  readCluster,
  removeNamespace,
  type World,
} from '../support/e2e.ts';
import { poll } from '../support/poll.ts';

const NAMESPACE = 'restore';
const CLUSTER = 'example';
const VERSION = '3.6.16';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, CLUSTER, { size: 3, version: VERSION }));
  await world.kube.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: NAMESPACE, name: 'backups' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  } as Parameters<World['kube']['apply']>[0]);
  await awaitRunning(world, { namespace: NAMESPACE, name: CLUSTER }, 200_000);
}, 240_000);
afterAll(async () => {
  await removeNamespace(world, NAMESPACE);
  await world.close();
});

async function read<T>(kind: string, name: string): Promise<T | undefined> {
  const object = await world.kube.get({ apiVersion: API_VERSION, kind, namespace: NAMESPACE, name });
  return object as unknown as T | undefined;
}

async function apply(kind: string, name: string, spec: EtcdBackupSpec | EtcdRestoreSpec): Promise<void> {
  const metadata = { namespace: NAMESPACE, name };
  await world.kube.apply({ apiVersion: API_VERSION, kind, metadata, spec } as Parameters<
    World['kube']['apply']
  >[0]);
}

async function etcdctl(cluster: string, ...args: string[]): Promise<string> {
  const [pod] = await podsOf(world, NAMESPACE, cluster);
  const name = pod?.metadata.name ?? '';
  return (await world.stack.kubectl('-n', NAMESPACE, 'exec', name, '--', 'etcdctl', ...args)).trim();
}

async function backUp(name: string): Promise<EtcdBackup> {
  await apply('EtcdBackup', name, {
    clusterRef: { name: CLUSTER },
    storageType: 'File',
    file: { claim: 'backups', path: `etcd/${name}` },
  });
  return poll(
    async () => {
      const backup = await read<EtcdBackup>('EtcdBackup', name);
      return backup?.status?.succeeded === true ? backup : undefined;
    },
    { timeoutMs: 120_000, otherwise: () => `no backup ${name}` },
  );
}

/** Waits until the restore has ended, and answers it. */
function ended(name: string): Promise<EtcdRestore> {
  return poll(
    async () => {
      const restore = await read<EtcdRestore>('EtcdRestore', name);
      return ['Succeeded', 'Failed'].includes(restore?.status?.phase ?? '') ? restore : undefined;
    },
    {
      timeoutMs: 240_000,
      otherwise: async () =>
        JSON.stringify(
          [await read('EtcdRestore', name), (await readCluster(world, NAMESPACE, CLUSTER))?.status],
          null,
          1,
        ),
    },
  );
}

describe('a restore', () => {
  it('brings back what the backup holds, under the old name; then the same backup fills a new cluster', async () => {
    await etcdctl(CLUSTER, 'put', 'colour', 'green');
    const backup = await backUp('once');
    const revision = backup.status?.history?.[0]?.revision ?? 0;
    await etcdctl(CLUSTER, 'put', 'colour', 'red');
    const before = await readCluster(world, NAMESPACE, CLUSTER);
    await apply('EtcdRestore', 'back', {
      etcdCluster: { name: CLUSTER },
      backupRef: { name: 'once', at: 'Latest' },
      confirmClusterID: before?.status?.clusterID ?? '',
    });
    const { status } = await ended('back');
    expect(status).toMatchObject({ phase: 'Succeeded', succeeded: true });
    expect(status?.revision).toBeGreaterThanOrEqual(revision + 1_000_000_000);
    const after = await awaitRunning(world, { namespace: NAMESPACE, name: CLUSTER });
    expect(after.status?.clusterID).toBe(status?.clusterID);
    expect(after.status?.clusterID).not.toBe(before?.status?.clusterID);
    expect(await etcdctl(CLUSTER, 'get', 'colour', '--print-value-only')).toBe('green');
    const claims = (await claimsOf(world, NAMESPACE, CLUSTER)).map(({ metadata }) => metadata.name);
    expect(claims.toSorted()).toEqual([0, 1, 2, 3, 4, 5].map(serial => `${CLUSTER}-${serial}`));

    await apply('EtcdRestore', 'clone', {
      etcdCluster: { name: 'clone' },
      backupStorageType: 'File',
      file: { claim: 'backups', path: 'etcd/once' },
      clusterTemplate: { size: 1, version: VERSION },
    });
    expect((await ended('clone')).status).toMatchObject({ phase: 'Succeeded', succeeded: true });
    await awaitCondition(world, { namespace: NAMESPACE, name: 'clone' }, { type: 'Available' });
    expect(await etcdctl('clone', 'get', 'colour', '--print-value-only')).toBe('green');
  }, 480_000);
});
