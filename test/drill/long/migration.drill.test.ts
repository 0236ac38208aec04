/**
 * docs/operations/migrate-from-coreos.md typed from its beginning to its end, on a stack of its own: the definitions, objects and
 * members of the CoreOS operator are there, and are written to, until the page says otherwise. Left out are its step 1 (members run
 * 3.5 already: older ones are not at hand) and what that operator itself would do, which cannot be run any more.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { down } from '../../../local/stack/index.ts';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdBackup, EtcdRestore } from '../../../src/api/schemas/types.ts';
import { COREOS_MEMBERS } from '../../worlds/coreos-cluster.ts';
import {
  COREOS_ETCD,
  createCoreosCluster,
  createOfCoreos,
  readyOf,
  storeCoreosDefinitions,
} from '../../stack/coreos-era.ts';
import { type Load, startLoad } from '../../stack/drill/client.ts';
import { dial } from '../../stack/drill/connection.ts';
import type { History } from '../../stack/drill/history.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { Shell } from '../../stack/drill/shell.ts';
import { readValues } from '../../stack/drill/stored.ts';
import { awaitCondition, podsOf, startBareWorld, testStack, type World } from '../../stack/e2e.ts';
import { restartsOf } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { Restores } from '../../stack/restores.ts';
import { keySpace, live, type KeySpace } from '../../stack/stack-keys.ts';
import { startStackStore, type StackStore } from '../../stack/stack-store.ts';
import { root } from '../../../scripts/run.ts';

const STACK = `${testStack()}-coreos`;
/** The page calls the cluster so. */
const at = { namespace: 'drill-migration', name: 'example' };
const NEW = 'example-new';
const PREFIX = 'app';
const WRITES = 1_000;

let world: World;
let page: Runbook;
let shell: Shell;
let store: StackStore;
let load: Load;
let restores: Restores;
/** What a reader has: the manifests, and a kustomization beside them. */
let folder: string;
/** What the clients were answered, and what the old cluster held when they had stopped. */
let history: History;
let held: KeySpace;

const kubectl = (...args: string[]): Promise<string> => world.stack.kubectl('-n', at.namespace, ...args);
const backup = (name: string) => restores.read<EtcdBackup>('EtcdBackup', name);
const restore = (name: string) => restores.read<EtcdRestore>('EtcdRestore', name);
const inFolder = (command: string): string => `cd '${folder}'\n${command}`;

/** The store of the stack is no AWS: a reader of it adds where it is. */
const inStore = (command: string): string =>
  command.replace(
    /^( *)path: backups\//m,
    `$1endpoint: ${store.endpoint}\n$1forcePathStyle: true\n$1path: bucket/`,
  );

/** The members with the uids of their pods and how often they restarted. */
async function members(): Promise<string[]> {
  const pods = await podsOf(world, at.namespace, at.name);
  return pods.map(pod => `${pod.metadata.name} ${pod.metadata.uid} ${restartsOf(pod)}`).sort();
}

async function through<T>(name: string, act: (etcd: ReturnType<typeof dial>) => Promise<T>): Promise<T> {
  const [endpoint = ''] =
    name === NEW ? await readyEndpoints(world, at.namespace, name) : await readyOf(world, { ...at, name });
  const etcd = dial(endpoint);
  try {
    return await act(etcd);
  } finally {
    etcd.close();
  }
}

beforeAll(async () => {
  await down(STACK, { wipe: true });
  world = await startBareWorld(STACK);
  await world.stack.kubectl('create', 'namespace', at.namespace);
  folder = await mkdtemp(join(tmpdir(), 'migration-'));
  page = new Runbook(world, at.namespace, 'operations/migrate-from-coreos.md');
  shell = new Shell(world, at.namespace);
  restores = new Restores(world, at.namespace);
  store = await startStackStore(world, at.namespace, 'S3');
  await storeCoreosDefinitions(world);
  await createCoreosCluster(world, at);
  await createObjects();
  await createPrograms();
  await through(at.name, live);
  load = await startLoad({ endpoints: () => readyOf(world, at), prefix: PREFIX, writesPerSecond: 100 });
  await poll(async () => load.acknowledged() > WRITES);
});
afterAll(async () => {
  await load?.stop();
  await store?.stop();
  await world?.close();
  await rm(folder, { recursive: true, force: true });
  await down(STACK, { wipe: true });
});

/** Those of every row of the page's table, as that operator left them. */
async function createObjects(): Promise<void> {
  const s3 = (name: string) => ({
    s3: { path: `bucket/${name}`, awsSecret: 'aws', endpoint: store.endpoint, forcePathStyle: true },
  });
  const create = (kind: string, name: string, more: object, metadata: object = {}) =>
    createOfCoreos(world, {
      apiVersion: API_VERSION,
      kind,
      metadata: { namespace: at.namespace, name, ...metadata },
      ...more,
    });
  const of = (name: string, more: object = {}) => ({
    spec: { etcdEndpoints: ['http://example-client:2379'], storageType: 'S3', ...s3(name), ...more },
  });
  const succeeded = { succeeded: true, etcdVersion: COREOS_ETCD, etcdRevision: 1 };
  await create('EtcdBackup', 'made', { ...of('made'), status: succeeded });
  const Reason = 'create etcd client failed';
  await create('EtcdBackup', 'failed', { ...of('failed'), status: { succeeded: false, Reason } });
  await create(
    'EtcdBackup',
    'nightly',
    {
      ...of('nightly', { backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 4 } }),
      status: { ...succeeded, lastSuccessDate: '2020-03-01T10:00:00Z' },
    },
    { finalizers: ['backup-operator-periodic'] },
  );
  const spec = { etcdCluster: { name: at.name }, backupStorageType: 'S3', ...s3('made') };
  await create('EtcdRestore', at.name, { spec, status: { succeeded: true } });
  await create('EtcdRestore', 'unfinished', { spec });
}

/** Deployments of the names of its three programs. What runs in them does nothing. */
async function createPrograms(): Promise<void> {
  const image = '--image=docker.io/library/busybox:local';
  for (const name of ['etcd-operator', 'etcd-backup-operator', 'etcd-restore-operator'])
    await kubectl('create', 'deployment', name, image, '--', 'sleep', '100000');
}

test('step 2: the CoreOS operator is stopped', async () => {
  const listed = await page.type('get deployments');
  for (const name of ['etcd-operator', 'etcd-backup-operator', 'etcd-restore-operator'])
    expect(listed).toMatch(new RegExp(`^${at.namespace} +${name} `, 'm'));
  expect((await page.type('scale deployment')).match(/ scaled$/gm)).toHaveLength(3);
  await poll(async () => (await kubectl('get', 'pods', '-o', 'name')).trim().split('\n').length === 3);
});

test('step 3: this operator is installed over its CRDs, and its cluster goes on serving', async () => {
  const before = await members();
  await cp(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true });
  const install = new Runbook(world, at.namespace, 'operations/install.md');
  await install.type('mkdir -p site', inFolder);
  await install.type('cat > site/kustomization.yaml', command => inFolder(adapted(command)));
  await page.type('-k deploy/crd', inFolder);
  await page.type('-k site', inFolder);
  await world.stack.kubectl('-n', 'etcd-operator', 'rollout', 'status', 'deployment/etcd-operator');
  const { status } = await awaitCondition(world, at, { type: 'Available', status: 'Unknown' });
  const available = status?.conditions?.find(({ type }) => type === 'Available');
  expect(available?.reason).toBe('OtherOperator');
  expect(await page.type('get etcd --all-namespaces')).toMatch(
    new RegExp(`^${at.namespace} +${at.name} .* Failed `, 'm'),
  );
  const soFar = load.acknowledged();
  await poll(async () => load.acknowledged() > soFar + WRITES);
  expect(await members()).toEqual(before);
  expect(before.map(line => line.split(' ')[0])).toEqual([...COREOS_MEMBERS].sort());
});

/** For a reader whose nodes have the image. */
function adapted(kustomization: string): string {
  return kustomization
    .replace(/^images:\n(?: .*\n)+/m, '')
    .replace('temporal.example.org:7233', 'temporal-frontend.temporal.svc:7233');
}

test('step 3: what becomes of the objects that are there', async () => {
  const taken = async (name: string) => (await store.contents()).has(name);
  await poll(() => taken('failed'));
  await poll(async () => [...(await store.contents()).keys()].some(key => key.startsWith('nightly_v')));
  await poll(async () => (await backup('nightly'))?.status?.lastRun?.outcome === 'Succeeded');
  await poll(async () => (await restore('unfinished'))?.status?.phase === 'Refused');
  expect((await restore('unfinished'))?.status?.refusal?.reason).toBe('OtherOperator');
  expect((await restore(at.name))?.status).toEqual({ succeeded: true });
  const { status } = (await backup('made')) ?? {};
  expect([status?.succeeded, status?.etcdRevision, status?.history]).toEqual([true, 1, undefined]);
  expect(await taken('made')).toBe(false);
  const succeeded = status?.conditions?.find(({ type }) => type === 'Succeeded');
  expect(succeeded?.reason).toBe('RecordedBefore');
});

test('step 3: a periodic EtcdBackup can be deleted when its finalizer is taken off', async () => {
  await kubectl('delete', 'etcdbackup', 'nightly', '--wait=false');
  expect((await backup('nightly'))?.metadata.finalizers).toContain('backup-operator-periodic');
  await page.type('patch etcdbackup nightly');
  await poll(async () => (await backup('nightly')) === undefined);
});

test('step 4: a backup is taken when no one writes any more', async () => {
  history = await load.stop();
  expect(history.writes.length).toBeGreaterThan(2 * WRITES);
  held = await through(at.name, keySpace);
  await page.type('name: migration\nspec:\n  etcdEndpoints', inStore);
  expect((await backup('migration'))?.spec.s3?.endpoint).toBe(store.endpoint);
  await page.type('wait etcdbackup migration');
  expect((await backup('migration'))?.status?.etcdRevision).toBe(held.revision);
});

/** No key is lost: everything is there as it was, and of every key the last that was acknowledged, or what was written after it. */
async function hasAll(name: string): Promise<void> {
  const [endpoint = ''] = await readyEndpoints(world, at.namespace, name);
  const etcd = dial(endpoint);
  const now = await keySpace(etcd).finally(() => etcd.close());
  expect(now.keys).toEqual(held.keys);
  const values = new Map((await readValues(endpoint, PREFIX)).map(value => [value.key, value]));
  const lost = history.writes.filter(({ key, value, revision = 0, outcome }) => {
    const stored = values.get(key);
    const isLater = stored !== undefined && stored.revision > revision;
    return outcome === 'ok' && !isLater && (stored?.revision !== revision || stored.value !== value);
  });
  expect(lost).toEqual([]);
}

test('step 5: it is restored into a new cluster beside the old one, and clients use that', async () => {
  await page.type('name: migration\nspec:\n  etcdCluster');
  await page.type('wait etcdrestore migration');
  await hasAll(NEW);
  expect(await asClient(NEW, 'put', 'moved', 'yes')).toContain('OK');
  // The old one has served all the while, and takes no part.
  expect((await through(at.name, keySpace)).keys).toEqual(held.keys);
});

/** What an application sees through the Service. */
function asClient(cluster: string, ...words: string[]): Promise<string> {
  const name = `client-${words[0]}-${performance.now().toFixed(0)}`;
  return shell.run(
    `kubectl run ${name} --rm -i --restart=Never --image=gcr.io/etcd-development/etcd:v3.5.35 --command -- ` +
      `etcdctl --endpoints=http://${cluster}-client:2379 ${words.join(' ')}`,
  );
}

test('step 5: the old cluster goes with its pods and Services when it is deleted', async () => {
  const counts = (await page.type('for cluster in')).match(/"Count" : \d+/g);
  expect(counts).toEqual([held.keys.length, held.keys.length + 1].map(count => `"Count" : ${count}`));
  await page.type('delete etcd example');
  await page.type('wait pod -l etcd_cluster=example');
  await poll(async () => {
    const services = (await kubectl('get', 'services', '-o', 'name')).trim().split('\n');
    return services.every(name => name.startsWith(`service/${NEW}`));
  });
  expect(await asClient(NEW, 'get', 'moved')).toContain('yes');
});

test('step 5: under the same name, once the old cluster is gone', async () => {
  const again = (command: string): string =>
    command
      .replace('etcdrestore migration', 'etcdrestore again')
      .replace('name: migration', 'name: again')
      .replace(NEW, at.name);
  await page.type('name: migration\nspec:\n  etcdCluster', again);
  await page.type('wait etcdrestore migration', again);
  await hasAll(at.name);
  expect(await asClient(at.name, 'get', `${PREFIX}/0`)).toContain(PREFIX);
});

test('no command of the page is left out', () => {
  expect([...page.untried]).toEqual([]);
});
