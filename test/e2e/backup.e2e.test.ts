/** Backups of a living cluster by the deployed operator: into a claim, and what a deletion leaves. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANNOTATION_HOSTS, API_VERSION } from '../../src/api/names.ts';
import type { EtcdBackup, EtcdBackupSpec, EtcdRestoreSpec } from '../../src/api/schemas/types.ts';
import {
  awaitCondition,
  createNamespace,
  manifest,
  openWorld,
  readCluster,
  removeNamespace,
  sample,
  type World,
} from '../stack/e2e.ts';
import { BackupStory } from '../stack/backup-story.ts';
import { formsOf } from '../stack/leaks.ts';
import { poll } from '../stack/poll.ts';
import { live } from '../stack/stack-keys.ts';
import { blockOf, startStackStore } from '../stack/stack-store.ts';

const NAMESPACE = 'backup';
const CLUSTER = 'example';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, CLUSTER, { size: 3, version: '3.6.16' }));
  await world.kube.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: NAMESPACE, name: 'backups' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  } as Parameters<World['kube']['apply']>[0]);
  await awaitCondition(world, { namespace: NAMESPACE, name: CLUSTER }, { type: 'Healthy' });
}, 240_000);
afterAll(async () => {
  await removeNamespace(world, NAMESPACE);
  await world.close();
});

async function readBackup(name: string): Promise<EtcdBackup | undefined> {
  const object = await world.kube.get({
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    namespace: NAMESPACE,
    name,
  });
  return object as unknown as EtcdBackup | undefined;
}

/** Waits until the resource's last run has this outcome, and answers it; fails with its whole status. */
function ended(name: string, outcome: string): Promise<EtcdBackup> {
  return poll(
    async () => {
      const backup = await readBackup(name);
      return backup?.status?.lastRun?.outcome === outcome ? backup : undefined;
    },
    {
      timeoutMs: 120_000,
      otherwise: async () =>
        `no run ${outcome}: ${JSON.stringify((await readBackup(name))?.status, null, 1)}`,
    },
  );
}

async function apply(name: string, spec: EtcdBackupSpec): Promise<void> {
  await world.kube.apply({
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    metadata: { namespace: NAMESPACE, name },
    spec,
  } as Parameters<World['kube']['apply']>[0]);
}

describe('into object stores', () => {
  it('S3: takes scheduled, compressed backups with a Secret in the form of the AWS tools', async () => {
    const store = await startStackStore(world, NAMESPACE, 'S3');
    try {
      await apply('to-s3', {
        clusterRef: { name: CLUSTER },
        storageType: 'S3',
        ...blockOf(store, 'bucket/etcd/example'),
        backupPolicy: { backupIntervalInSecond: 86_400, maxBackups: 3 },
        compression: 'gzip',
        verify: 'Structure',
      });
      const { status } = await ended('to-s3', 'Succeeded');
      expect(status?.history).toEqual([
        expect.objectContaining({
          location: expect.stringMatching(/^s3:\/\/bucket\/etcd\/example_v\d+_[-\d:]+$/),
          verified: 'Structure',
        }),
      ]);
      const everything = JSON.stringify([
        await readBackup('to-s3'),
        await historyOf(status?.workflowID ?? ''),
      ]);
      for (const form of store.canaries.flatMap(formsOf)) expect(everything).not.toContain(form);
      await losesFaith(store);
    } finally {
      await store.stop();
    }
  }, 300_000);

  /** The newest backup is found bad, then the one before it, at which BackedUp pointed until then. */
  async function losesFaith(store: Awaited<ReturnType<typeof startStackStore>>): Promise<void> {
    const [older] = (await readBackup('to-s3'))?.status?.history ?? [];
    await ask('one-more', { action: 'BackupNow' });
    const newer = await poll(
      async () => {
        const { history = [] } = (await readBackup('to-s3'))?.status ?? {};
        return history.find(({ location, verified = '' }) => location !== older?.location && verified !== '');
      },
      { timeoutMs: 90_000, otherwise: async () => JSON.stringify((await readBackup('to-s3'))?.status) },
    );
    await pointsAt(newer.location, 'True');
    const bad = new Set<string>();
    store.front.fault = ({ method, path }) =>
      method === 'GET' && bad.has(decodeURIComponent(path.split('?')[0] ?? ''))
        ? { kind: 'flip', byte: 400 }
        : undefined;
    for (const [index, { location }] of [newer, older ?? newer].entries()) {
      bad.add(location.replace('s3:/', ''));
      await ask(`doubt-${index}`, { action: 'VerifyBackup', location });
      await pointsAt(index === 0 ? older?.location : undefined, 'False');
    }
  }

  /** Waits until BackedUp has this status and names this backup as the newest that is verified; none when there is none. */
  async function pointsAt(location: string | undefined, expected: string): Promise<void> {
    const read = async () => (await readCluster(world, NAMESPACE, CLUSTER))?.status;
    await poll(
      async () => {
        const { conditions = [], lastBackup } = (await read()) ?? {};
        const { status, message = '' } = conditions.find(({ type }) => type === 'BackedUp') ?? {};
        const isNamed =
          location === undefined ? !message.includes('newest verified') : message.includes(location);
        return status === expected && isNamed && lastBackup?.location === location;
      },
      {
        timeoutMs: 120_000,
        otherwise: async () => JSON.stringify([await readBackup('to-s3'), await read()], null, 1),
      },
    );
  }

  async function ask(name: string, spec: object): Promise<void> {
    const by = (
      await world.stack.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
    ).trim();
    await world.kube.apply({
      apiVersion: API_VERSION,
      kind: 'EtcdRequest',
      metadata: { namespace: NAMESPACE, name },
      spec: { backupRef: { name: 'to-s3' }, by, ...spec },
    } as Parameters<World['kube']['apply']>[0]);
  }

  it('S3: what comes back with one bit changed is reported as not to be trusted', async () => {
    const store = await startStackStore(world, NAMESPACE, 'S3');
    store.front.fault = ({ method, path }) =>
      method === 'GET' && path.startsWith('/bucket/etcd/damaged?')
        ? { kind: 'flip', byte: 5_000 }
        : undefined;
    try {
      await apply('damaged', {
        clusterRef: { name: CLUSTER },
        storageType: 'S3',
        ...blockOf(store, 'bucket/etcd/damaged'),
        verify: 'Structure',
      });
      const { status } = await ended('damaged', 'Failed');
      expect(status).toMatchObject({ succeeded: false, history: [{ verified: '' }] });
      expect(status?.Reason).toContain('s3://bucket/etcd/damaged is kept without verification');
      expect(status).not.toHaveProperty('lastVerifiedRestore');
    } finally {
      await store.stop();
    }
  }, 180_000);

  it('Google: the published samples, with the endpoint of the stand-in: a lost cluster comes back key by key', async () => {
    const store = await startStackStore(world, NAMESPACE, 'GCS');
    const story = new BackupStory(world, NAMESPACE);
    const published = (file: string) => {
      const { metadata, ...rest } = sample(NAMESPACE, file);
      const spec = rest['spec'] as EtcdBackupSpec & EtcdRestoreSpec;
      const gcs = { path: '', ...spec.gcs, endpoint: store.endpoint };
      return { name: metadata.name, spec: { ...spec, gcs } };
    };
    try {
      const cluster = 'etcd-cluster';
      const spec = { size: 1, version: '3.6.16', TLS: { auto: {} } };
      await world.kube.apply(manifest(NAMESPACE, cluster, spec));
      await awaitCondition(world, { namespace: NAMESPACE, name: cluster }, { type: 'Available' });
      await story.through(cluster, live);
      const before = await story.keysOf(cluster);
      const backup = published('etcd-gcs-backup.yaml');
      await apply(backup.name, backup.spec);
      const { status } = await ended(backup.name, 'Succeeded');
      expect(status?.history?.[0]).toMatchObject({
        location: 'gs://gcsbucket/etcd',
        member: 'etcd-cluster-0',
        revision: before.revision,
      });
      await story.loseAll(cluster);
      const restore = published('etcd-gcs-restore.yaml');
      await story.apply('EtcdRestore', restore.name, { ...restore.spec, etcdCluster: { name: cluster } });
      expect((await story.restored(restore.name)).status).toMatchObject({
        phase: 'Succeeded',
        succeeded: true,
      });
      expect(await story.contentAfterRestore(cluster, before)).toEqual({ keys: before.keys, isRaised: true });
    } finally {
      await store.stop();
    }
  }, 400_000);
});

/** Everything that Temporal keeps of a workflow. */
function historyOf(workflowId: string): Promise<string> {
  return world.temporal('workflow', 'show', '-w', workflowId, '--output', 'json');
}

describe('into a claim', () => {
  it('one backup is taken, verified and described; the pod that lent the claim is gone', async () => {
    await world.kube.apply(sample(NAMESPACE, 'backup-to-claim.yaml'));
    const { status } = await ended('example', 'Succeeded');
    expect(status).toMatchObject({
      phase: 'Succeeded',
      succeeded: true,
      etcdVersion: '3.6.16',
      history: [{ location: 'file://backups/etcd/example', verified: 'Checksum' }],
    });
    const [entry] = status?.history ?? [];
    expect((entry?.size ?? 0) % 512).toBe(32);
    expect(entry?.sha256).toMatch(/^[0-9a-f]{64}$/);
    await poll(
      async () => {
        const { items } = await world.kube.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace: NAMESPACE });
        return items.every(({ metadata }) => !metadata.name.endsWith('-claim')) || undefined;
      },
      { timeoutMs: 30_000, otherwise: async () => 'the pod that lent the claim is still there' },
    );
  }, 180_000);

  it('a backup is restored on the side with the tools of the cluster, and has the same hash', async () => {
    await apply('restorable', {
      clusterRef: { name: CLUSTER },
      storageType: 'File',
      file: { claim: 'backups', path: 'restorable' },
      verify: 'Restore',
    });
    const { status } = await ended('restorable', 'Succeeded');
    expect(status?.history).toEqual([expect.objectContaining({ verified: 'Restore' })]);
    expect(status?.lastRun).not.toHaveProperty('message');
    expect(status?.lastVerifiedRestore).toBeDefined();
  }, 180_000);

  it('periodic backups follow each other, the oldest goes, and a person can ask for one', async () => {
    const policy = { backupIntervalInSecond: 86_400, maxBackups: 2 };
    await apply('periodic', {
      etcdEndpoints: [`http://${CLUSTER}-client:2379`],
      storageType: 'File',
      file: { claim: 'backups', path: 'periodic/example' },
      backupPolicy: policy,
      compression: 'zstd',
    });
    const first = await ended('periodic', 'Succeeded');
    expect(first.status?.history?.[0]?.member).toMatch(/^example-\d$/);
    const workflow = first.status?.workflowID ?? '';
    const input = JSON.stringify({ by: 'a person' });
    for (let count = 2; count <= 3; count += 1) {
      const before = (await readBackup('periodic'))?.status?.lastRun?.startedAt;
      await world.temporal('workflow', 'signal', '-w', workflow, '--name', 'backup', '-i', input);
      await poll(
        async () => {
          const { lastRun } = (await readBackup('periodic'))?.status ?? {};
          return (lastRun?.startedAt !== before && lastRun?.outcome === 'Succeeded') || undefined;
        },
        { timeoutMs: 90_000, otherwise: async () => JSON.stringify((await readBackup('periodic'))?.status) },
      );
    }
    await poll(
      async () => {
        const { history = [] } = (await readBackup('periodic'))?.status ?? {};
        return history.length === 2 || undefined;
      },
      { timeoutMs: 60_000, otherwise: async () => JSON.stringify((await readBackup('periodic'))?.status) },
    );
    await world.stack.kubectl(
      '-n',
      NAMESPACE,
      'delete',
      'etcdbackup',
      'periodic',
      '--wait=true',
      '--timeout=30s',
    );
  }, 240_000);

  it('a backup that cannot be made says why', async () => {
    await apply('lost', {
      clusterRef: { name: CLUSTER },
      storageType: 'File',
      file: { claim: 'nowhere', path: 'a/b' },
      backupPolicy: { timeoutInSecond: 15 },
    });
    const { status } = await ended('lost', 'Failed');
    expect(status).toMatchObject({ succeeded: false, phase: 'Failed' });
    expect(status?.Reason).toContain('PersistentVolumeClaim backup/nowhere does not exist');
  }, 120_000);

  it('a backup that fails again and again says why while it is tried again: condition, phase and event', async () => {
    const store = await startStackStore(world, NAMESPACE, 'S3');
    const { s3 } = blockOf(store, 'bucket/etcd/broken');
    const { host } = new URL(store.endpoint);
    await world.kube.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: NAMESPACE,
        name: 'wrong-key',
        annotations: { [ANNOTATION_HOSTS]: host.replace(/:\d+$/, '') },
      },
      stringData: {
        credentials:
          '[default]\naws_access_key_id = nobody-has-this\naws_secret_access_key = nobody-has-this-either\n',
        config: '[default]\nregion = us-east-1\n',
      },
    } as Parameters<World['kube']['apply']>[0]);
    const inS3 = (change: object) => ({ storageType: 'S3', s3: { ...s3, ...change } }) as EtcdBackupSpec;
    const clusterRef = { name: CLUSTER };
    const broken: Readonly<Record<string, readonly [EtcdBackupSpec, RegExp]>> = {
      'no-secret': [{ clusterRef, ...inS3({ awsSecret: 'nowhere' }) }, /Secret .*nowhere/],
      'no-cluster': [{ clusterRef: { name: 'exmaple' }, ...inS3({}) }, /exmaple/],
      'no-claim': [
        { clusterRef, storageType: 'File', file: { claim: 'nowhere', path: 'a/b' } },
        /PersistentVolumeClaim .*nowhere/,
      ],
      'closed-port': [
        { clusterRef, ...inS3({ endpoint: `http://${host.replace(/:\d+$/, ':1')}` }) },
        /no connection|not reachable/,
      ],
      'wrong-key': [{ clusterRef, ...inS3({ awsSecret: 'wrong-key' }) }, /credentials/],
    };
    try {
      for (const [name, [spec]] of Object.entries(broken)) await apply(name, spec);
      for (const [name, [, words]] of Object.entries(broken)) {
        const found = await poll(
          async () => {
            const { conditions = [], lastRun, phase } = (await readBackup(name))?.status ?? {};
            const said =
              conditions.find(({ type }) => type === 'Retrying')?.message ??
              (lastRun?.outcome === 'Failed' ? lastRun.message : undefined);
            return said === undefined ? undefined : { said, phase };
          },
          {
            timeoutMs: 60_000,
            otherwise: async () => `${name}: ${JSON.stringify((await readBackup(name))?.status)}`,
          },
        );
        console.log(name, JSON.stringify(found));
        expect(found.said).toMatch(words);
        expect(['Retrying', 'Failed']).toContain(found.phase);
        // Events are written beside the status, and may come a moment later.
        const eventsOf = () =>
          world.stack.kubectl(
            ...['-n', NAMESPACE, 'get', 'events'],
            ...['--field-selector', `involvedObject.name=${name},type=Warning`],
          );
        await poll(async () => (words.test(await eventsOf()) ? true : undefined), {
          timeoutMs: 30_000,
          otherwise: async () => `events of ${name}: ${await eventsOf()}`,
        });
      }
    } finally {
      for (const name of Object.keys(broken))
        await world.stack.kubectl('-n', NAMESPACE, 'delete', 'etcdbackup', name, '--wait=false');
      await store.stop();
    }
  }, 240_000);
});
