/**
 * Each cloud's store: a cluster is backed up into it, everything of the cluster is lost, a restore brings it back, key by key.
 * The clusters differ in how they are spoken to: in plain text, with certificates of either kind, with authentication.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { coreosSecrets, secret, staticTls, TestAuthority } from '../../fakes/certificates.ts';
import { awaitRunning, createNamespace, leaveNamespace, manifest, openWorld } from '../../stack/e2e.ts';
import { leaks, privateKeysIn, writtenAbout, type Written } from '../../stack/leaks.ts';
import { live, requireUsers } from '../../stack/stack-keys.ts';
import { blockOf, type CloudType, startStackStore, type StackStore } from '../../stack/stack-store.ts';

const NAMESPACE = 'stores';
const PASSWORD = 'canary-root-password-5d41a9';

interface Case {
  readonly type: CloudType;
  readonly cluster: string;
  readonly spec: Partial<EtcdClusterSpec>;
  /** How the backup names its cluster. */
  readonly source: 'reference' | 'endpoint';
  readonly auth?: boolean;
}

const CASES: readonly Case[] = [
  { type: 'S3', cluster: 'plain', spec: { size: 3 }, source: 'endpoint' },
  { type: 'ABS', cluster: 'auto', spec: { size: 1, TLS: { auto: {} } }, source: 'reference', auth: true },
  { type: 'GCS', cluster: 'issued', spec: { size: 1, TLS: { auto: {} } }, source: 'endpoint' },
  { type: 'OSS', cluster: 'static', spec: { size: 1, TLS: staticTls('static') }, source: 'endpoint' },
];

let story: BackupStory;
const stores: StackStore[] = [];
beforeAll(async () => {
  const world = await openWorld();
  await createNamespace(world, NAMESPACE);
  const authority = await TestAuthority.create('company');
  for (const made of Object.values(await coreosSecrets(authority, 'static', NAMESPACE))) {
    await world.kube.apply(made);
  }
  await world.kube.apply(secret(NAMESPACE, 'root', { username: 'root', password: PASSWORD }));
  story = new BackupStory(world, NAMESPACE);
});
afterAll(async () => {
  for (const store of stores) await store.stop();
  await leaveNamespace(story?.world, NAMESPACE);
});

describe.each(CASES)('$type, of the cluster $cluster', ({ type, cluster, spec, source, auth = false }) => {
  test('comes back key by key after everything was lost', async () => {
    const { world } = story;
    const store = await startStackStore(world, NAMESPACE, type);
    stores.push(store);
    await world.kube.apply(manifest(NAMESPACE, cluster, { size: 1, version: '3.6.16', ...spec }));
    await awaitRunning(world, { namespace: NAMESPACE, name: cluster });
    await story.through(cluster, live);
    // The operator's certificate is that of root.
    if (auth) await story.through(cluster, etcd => requireUsers(etcd, PASSWORD));
    const before = await story.keysOf(cluster);
    const block = blockOf(store, 'bucket/etcd/backup');
    const scheme = spec.TLS === undefined ? 'http' : 'https';
    await story.apply('EtcdBackup', `${cluster}-backup`, {
      ...(source === 'reference'
        ? { clusterRef: { name: cluster } }
        : { etcdEndpoints: [`${scheme}://${cluster}-client:2379`] }),
      storageType: type,
      ...block,
    });
    const { status } = await story.backedUp(`${cluster}-backup`);
    expect(status?.history?.[0]).toMatchObject({ revision: before.revision, verified: 'Checksum' });
    await story.through(cluster, etcd => etcd.put('too/late').value('lost').exec());

    await story.loseAll(cluster);
    await story.apply('EtcdRestore', `${cluster}-from-store`, {
      etcdCluster: { name: cluster },
      backupStorageType: type,
      ...block,
    });
    expect((await story.restored(`${cluster}-from-store`)).status).toMatchObject({
      phase: 'Succeeded',
      succeeded: true,
    });
    expect(await story.contentAfterRestore(cluster, before)).toEqual({ keys: before.keys, isRaised: true });
  }, 480_000);
});

test('no secret of any credential is found anywhere', async () => {
  const { world } = story;
  const keys = await privateKeysIn(world, NAMESPACE);
  const secrets = [PASSWORD, ...stores.flatMap(({ canaries }) => canaries), ...keys];
  expect(keys.length).toBeGreaterThan(20);
  const written: Written[] = [...(await writtenAbout(world, NAMESPACE))];
  for (const { type, contents } of stores) {
    const objects = [...(await contents())];
    expect(objects.map(([key]) => key)).toContain('etcd/backup.json');
    written.push({ where: `names in ${type}`, text: objects.map(([key]) => key).join('\n') });
    written.push(
      ...objects.map(([key, bytes]) => ({ where: `${type} ${key}`, text: bytes.toString('latin1') })),
    );
  }
  // What is searched is what is meant: each place names what it is about.
  for (const { type, cluster } of CASES) {
    const about = written.filter(({ text }) => text.includes(`${cluster}-backup`)).map(({ where }) => where);
    expect(about, `about ${type}`).toEqual(
      expect.arrayContaining([`objects of ${NAMESPACE}`, `${type} etcd/backup.json`]),
    );
    expect(
      about.filter(where => where.startsWith('log of etcd-operator-')).length,
      `logs of ${type}`,
    ).toBeGreaterThan(0);
  }
  const histories = written.filter(({ where }) => where.startsWith('history of '));
  for (const { cluster } of CASES) {
    expect(leaks([`${cluster}-backup`], histories).length, 'histories are understood').toBeGreaterThan(1);
  }
  expect(leaks(secrets, written)).toEqual([]);
});
