/** docs/operations/backup.md and stores.md as they are written: their commands are typed, and what they say comes about. */
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { StoreBlocks } from '../../../src/api/derived/store-of-specification.ts';
import { memberHost } from '../../../src/api/names.ts';
import type { EtcdBackup, EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { TestAuthority } from '../../fakes/certificates.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { awaitRunning, manifest, podsOf, sample, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { forward } from '../../stack/forward.ts';
import { poll } from '../../stack/poll.ts';
import { live, requireUsers } from '../../stack/stack-keys.ts';
import {
  blockOf,
  bridgeAddress,
  type CloudType,
  startStackStore,
  type StackStore,
  STORE_SECRETS,
} from '../../stack/stack-store.ts';

/** The pages call their cluster so. */
const at = { namespace: 'drill-backup-pages', name: 'example' };
const NIGHTLY = 'example-nightly';
const SEALED = 'sealed';
const PASSWORD = 'a password';

let world: World;
let story: BackupStory;
let page: Runbook;
let pageOfStores: Runbook;
let folder: string;
const stores = new Map<CloudType, StackStore>();

useNamespace(at.namespace, opened => void (world = opened));
beforeAll(async () => {
  story = new BackupStory(world, at.namespace);
  page = new Runbook(world, at.namespace, 'operations/backup.md');
  pageOfStores = new Runbook(world, at.namespace, 'operations/stores.md');
  folder = await mkdtemp(join(tmpdir(), 'backup-pages-'));
  await world.kube.apply(manifest(at.namespace, at.name, { size: 1, version: '3.6.16' }));
  await world.kube.apply(manifest(at.namespace, SEALED, { size: 1, version: '3.6.16', TLS: { auto: {} } }));
  for (const name of [at.name, SEALED]) await awaitRunning(world, { ...at, name }, 200_000);
  await story.through(at.name, live);
});
afterAll(async () => {
  for (const store of stores.values()) await store.stop();
});

const inFolder = (command: string): string => `cd '${folder}'\n${command}`;

function status(name: string, is: (status: NonNullable<EtcdBackup['status']>) => boolean) {
  return poll(
    async () => {
      const { status: said } = (await story.backup(name)) ?? {};
      return said !== undefined && is(said) ? said : undefined;
    },
    { timeoutMs: 180_000, otherwise: async () => JSON.stringify((await story.backup(name))?.status) },
  );
}

test('one backup is written into a claim', async () => {
  await page.type('kind: PersistentVolumeClaim');
  await page.type('backup-to-claim.yaml');
  await story.backedUp('example');
  const said = await page.type("jsonpath='{.status.phase}");
  expect(said).toMatch(/^Succeeded \{.*"verified":"Checksum"/);
  const lender = { apiVersion: 'v1', kind: 'Pod', namespace: at.namespace, name: 'example-backup-claim' };
  await poll(async () => (await world.kube.get(lender)) === undefined, { timeoutMs: 60_000 });
});

test('what is asked for beside it is named by its revision and time', async () => {
  await page.type('--name backup -i');
  const { history = [] } = await status('example', ({ history: all }) => all?.length === 2);
  const [newer, older] = history;
  expect(older?.location).toMatch(/etcd\/example$/);
  expect(newer?.location).toMatch(new RegExp(`etcd/example_v${newer?.revision}_`));
});

/** What a reader of the page has: the names of its variables and files, with what is true here. */
const KNOWN: Readonly<Record<CloudType, (store: StackStore) => Promise<Readonly<Record<string, string>>>>> = {
  S3: async ({ credentials }) => {
    await mkdir(join(folder, '.aws'));
    for (const name of ['credentials', 'config'])
      await writeFile(join(folder, '.aws', name), credentials[name] ?? '');
    return { HOME: folder };
  },
  ABS: async ({ credentials }) => ({ KEY: credentials['storage-key'] ?? '' }),
  GCS: async ({ credentials }) => {
    await writeFile(join(folder, 'credentials.json'), credentials['credentials.json'] ?? '');
    return {};
  },
  OSS: async ({ credentials }) => ({
    ID: credentials['accessKeyID'] ?? '',
    SECRET: credentials['accessKeySecret'] ?? '',
  }),
};

test.each([
  ['S3', 'aws'],
  ['ABS', 'azure'],
  ['GCS', 'google'],
  ['OSS', 'alibaba'],
] as const)('the Secret of %s, as stores.md makes it, opens the store', async (type, name) => {
  const store = await startStackStore(world, at.namespace, type);
  stores.set(type, store);
  const made = STORE_SECRETS[type];
  await world.kube.delete({ apiVersion: 'v1', kind: 'Secret', namespace: at.namespace, name: made });
  const account = store.credentials['storage-account'] ?? 'backups';
  await pageOfStores.type(
    `generic ${name}`,
    command => inFolder(command.replace('storage-account=backups', `storage-account=${account}`)),
    await KNOWN[type](store),
  );
  const { hostname } = new URL(store.endpoint);
  const named = (command: string) =>
    command.replace('secret azure', `secret ${name}`).replace('blobs.example.org', hostname);
  if (type !== 'S3') await pageOfStores.type('annotate secret', command => inFolder(named(command)));
  const path = 'bucket/etcd/by-secret';
  const block: StoreBlocks =
    type === 'GCS' ? { gcs: { path, endpoint: store.endpoint, gcpSecret: name } } : blockOf(store, path);
  const backup = `into-${type.toLowerCase()}`;
  await story.apply('EtcdBackup', backup, { clusterRef: { name: at.name }, storageType: type, ...block });
  await story.backedUp(backup);
  expect([...(await store.contents()).keys()]).toContain('etcd/by-secret.json');
});

const nightlyId = async (): Promise<string> => (await story.backup(NIGHTLY))?.status?.workflowID ?? '';

test('scheduled backups can be aborted, paused and resumed, and are verified by a restore on the side', async () => {
  const store = stores.get('S3');
  if (store === undefined) throw new Error('there is no store');
  const { spec } = sample(at.namespace, 'backup-schedule.yaml') as { spec?: EtcdBackupSpec };
  const block = blockOf(store, 'bucket/nightly/example');
  await story.apply('EtcdBackup', NIGHTLY, { ...(spec as EtcdBackupSpec), ...block, verify: 'Restore' });
  await status(NIGHTLY, ({ nextRun }) => nextRun !== undefined);
  const id = await nightlyId();
  const ofNightly = (command: string): string => command.replace('$W', id);

  store.front.fault = ({ method }) => (method === 'PUT' ? { kind: 'hang' } : undefined);
  await page.type('--name backup -i', ofNightly);
  await status(NIGHTLY, ({ progress }) => progress !== undefined);
  await page.type('--name abort', ofNightly);
  await story.backedUp(NIGHTLY, 'Aborted');
  store.front.reset();
  expect([...(await store.contents()).keys()].filter(key => key.startsWith('nightly/'))).toEqual([]);

  const paused = (isPaused: boolean) =>
    status(
      NIGHTLY,
      ({ conditions = [] }) =>
        conditions.some(one => one.type === 'Paused' && one.status === 'True') === isPaused,
    );
  await page.type('--name pause', ofNightly);
  await paused(true);
  await page.type('--name resume', ofNightly);
  await paused(false);

  await page.type('--name backup -i', ofNightly);
  const verifier = `${NIGHTLY}-backup-verify`;
  const pod = { apiVersion: 'v1', kind: 'Pod', namespace: at.namespace, name: verifier };
  await poll(() => world.kube.get(pod), { timeoutMs: 60_000 });
  const { status: said } = await story.backedUp(NIGHTLY, 'Succeeded', 240_000);
  expect(said?.history?.[0]).toMatchObject({ verified: 'Restore' });
  expect(said?.lastVerifiedRestore).toBeDefined();
  await poll(async () => (await world.kube.get(pod)) === undefined, { timeoutMs: 60_000 });
  const [, manifestBytes] = [...(await store.contents())].find(([key]) => /^nightly.*json$/.test(key)) ?? [];
  const reported = JSON.parse(manifestBytes?.toString() ?? '{}');
  expect(reported.entry.verified).toBe('Restore');
  expect(reported.live).toBeDefined();
});

test('any etcd is backed up with certificates and a user', async () => {
  await story.through(SEALED, etcd => requireUsers(etcd, PASSWORD));
  const object = await world.kube.get({
    apiVersion: 'v1',
    kind: 'Secret',
    namespace: at.namespace,
    name: `${SEALED}-client-tls`,
  });
  const data = object?.['data'] as Readonly<Record<string, string>>;
  const files = {
    'etcd-client.crt': 'tls.crt',
    'etcd-client.key': 'tls.key',
    'etcd-client-ca.crt': 'ca.crt',
  };
  for (const [file, key] of Object.entries(files))
    await writeFile(join(folder, file), Buffer.from(data[key] ?? '', 'base64'));
  await page.type('generic etcd-client', inFolder);
  await page.type('generic etcd-root', inFolder, { PASSWORD });
  const { spec } = parse(page.yaml('etcdEndpoints')) as { spec: EtcdBackupSpec };
  const [pod] = await podsOf(world, at.namespace, SEALED);
  const member = pod?.metadata.name ?? '';
  const silent = memberHost({ member: 'example-9', cluster: SEALED, namespace: at.namespace });
  const hosts = [memberHost({ member, cluster: SEALED, namespace: at.namespace }), silent];
  await story.apply('EtcdBackup', 'external', {
    ...spec,
    etcdEndpoints: hosts.map(host => `https://${host}:2379`),
    storageType: 'File',
    file: { claim: 'backups', path: 'etcd/external' },
  });
  await story.backedUp('external');
});

test('a store whose certificate an authority of its own has signed is used when caSecret names it', async () => {
  const store = stores.get('S3');
  if (store === undefined) throw new Error('the first test starts the store');
  const authority = await TestAuthority.create('store');
  const address = bridgeAddress(world);
  const certificate = await authority.issue({ addresses: [address], usages: ['server'] });
  const front = await forward(address, store.front.url, certificate);
  try {
    await writeFile(join(folder, 'company-ca.pem'), authority.pair.cert);
    await pageOfStores.type('generic store-authorities', inFolder);
    const path = 'bucket/private/backup';
    const { s3 } = blockOf(store, path);
    const spec = (caSecret: string) => ({
      clusterRef: { name: at.name },
      storageType: 'S3' as const,
      s3: { ...s3, path, endpoint: front.url, caSecret },
    });
    await story.apply('EtcdBackup', 'private', spec(''));
    const said = async () => JSON.stringify((await story.backup('private'))?.status ?? {});
    await poll(async () => (await said()).includes('caSecret'), { timeoutMs: 120_000, otherwise: said });
    await story.apply('EtcdBackup', 'private', spec('store-authorities'));
    await story.backedUp('private');
    expect([...(await store.contents()).keys()]).toContain('private/backup.json');
  } finally {
    front.stop();
  }
}, 300_000);

test('a backup is restored by hand', async () => {
  const bytes = (await stores.get('S3')?.contents())?.get('etcd/by-secret') ?? Buffer.alloc(0);
  await writeFile(join(folder, 'snapshot'), bytes);
  const named = (command: string): string => inFolder(command.replace('<file>', 'snapshot'));
  const { revision } = (await story.backup('into-s3'))?.status?.history?.[0] ?? {};
  expect(await page.type('etcdutl snapshot status', named)).toContain(`${revision}`);
  await page.type('etcdutl snapshot restore', named);
  expect(await readdir(join(folder, 'new', 'member', 'snap'))).toContain('db');
});

test('no command of the pages is left out', () => {
  expect([...page.untried, ...pageOfStores.untried]).toEqual([]);
});
