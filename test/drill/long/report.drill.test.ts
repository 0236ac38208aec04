/** The report for support of a real cluster: secrets are planted where users put them, and looked for in every byte of the archive. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import { secret } from '../../fakes/certificates.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { Shell } from '../../stack/drill/shell.ts';
import { awaitRunning, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { leaks, privateKeysIn, type Written } from '../../stack/leaks.ts';
import { poll } from '../../stack/poll.ts';
import { blockOf, startStackStore, type StackStore } from '../../stack/stack-store.ts';

const at = { namespace: 'drill-report', name: 'example' };
/** By where each is planted; etcd logs variables of its own prefix. */
const CANARIES = {
  variable: 'canary-of-a-variable/1a+b',
  ofSecret: 'canary-of-a-secret-variable-2c',
  annotation: 'canary-of-an-annotation-3d',
  podAnnotation: 'canary-of-a-pod-annotation-4e',
  endpoint: 'canary-of-an-endpoint-5f',
  data: 'canary-of-an-application-6g',
} as const;
/** What support needs. */
const REASON = 'to see it in the report';

let world: World;
let shell: Shell;
let store: StackStore;
let folder: string;

useNamespace(at.namespace, opened => void (world = opened));

const CLUSTER = {
  apiVersion: API_VERSION,
  kind: 'EtcdCluster',
  metadata: { name: at.name, annotations: { 'example.com/note': CANARIES.annotation } },
  spec: {
    size: 1,
    version: '3.6.16',
    TLS: { auto: {} },
    pod: {
      ...ASKING_FOR_CPU,
      annotations: { 'example.com/token': CANARIES.podAnnotation },
      etcdEnv: [
        { name: 'ETCD_PROXY_LOGIN', value: CANARIES.variable },
        { name: 'ETCD_HIDDEN', valueFrom: { secretKeyRef: { name: 'hidden', key: 'login' } } },
      ],
    },
  },
};

const backup = (name: string, block: object) => ({
  apiVersion: API_VERSION,
  kind: 'EtcdBackup',
  metadata: { name },
  spec: { clusterRef: { name: at.name }, storageType: 'OSS', ...block },
});

/** With kubectl, which writes down in an annotation what it applied. */
const apply = (object: object): Promise<string> =>
  shell.run(`kubectl apply -f - <<'END'\n${JSON.stringify(object)}\nEND`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'report-'));
  shell = new Shell(world, at.namespace);
  store = await startStackStore(world, at.namespace, 'OSS');
  await world.kube.apply(secret(at.namespace, 'hidden', { login: CANARIES.ofSecret }));
  await apply(CLUSTER);
  await awaitRunning(world, at);
  const block = blockOf(store, 'bucket/etcd/backup');
  await apply(backup('nightly', block));
  const story = new BackupStory(world, at.namespace);
  await story.backedUp('nightly');
  const endpoint = store.endpoint.replace('http://', `http://user:${CANARIES.endpoint}@`);
  await apply(backup('broken', { oss: { ...block.oss, endpoint } }));
  await poll(async () => (await story.backup('broken'))?.status?.observedGeneration === 1);
  await shell.run(`kubectl etcd etcdctl ${at.name} -- put greeting ${CANARIES.data}`);
  await shell.run(`kubectl etcd pause ${at.name} --reason '${REASON}' --yes --wait`);
  await shell.run(`kubectl etcd resume ${at.name} --yes --wait`);
});
afterAll(async () => {
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the canaries are where a report looks', async () => {
  const objects = await shell.run('kubectl get etcd,etcdbackup,pods -o yaml');
  for (const planted of ['variable', 'annotation', 'podAnnotation', 'endpoint'] as const)
    expect([planted, objects.includes(CANARIES[planted])]).toEqual([planted, true]);
  const log = await shell.run(`kubectl logs ${at.name}-0`);
  expect(log).toContain(CANARIES.variable);
  expect(log).toContain(CANARIES.ofSecret);
});

test('no secret is in any byte of the archive, and what support needs is', async () => {
  const file = join(folder, 'report.tar.gz');
  const said = await shell.run(
    `kubectl etcd report ${at.name} --to ${file} --temporal-address $TEMPORAL_ADDRESS`,
  );
  expect(said).not.toContain('not contained');
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  const report = join(folder, `etcd-report-${at.name}`);
  const files = readdirSync(report, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name));
  const archive = readFileSync(file);
  const written: readonly Written[] = [
    { where: 'what the command said', text: said },
    { where: 'the compressed archive', text: archive.toString('latin1') },
    { where: 'the archive', text: gunzipSync(archive).toString('latin1') },
    ...files.map(where => ({ where, text: readFileSync(where, 'latin1') })),
  ];
  const keys = await privateKeysIn(world, at.namespace);
  expect(keys.length).toBeGreaterThan(10);
  expect(leaks([...keys, ...store.canaries, ...Object.values(CANARIES)], written)).toEqual([]);
  // What is searched is what is meant: all is there, and what is no secret is found.
  for (const part of [
    `logs/${at.name}-0.log`,
    'logs/operator.log',
    `metrics/${at.name}-0.txt`,
    'resources/pods.yaml',
  ])
    expect(files).toContain(join(report, part));
  const where = leaks([REASON], written).map(found => found.replace(/^.* is in |-\d{8}T.*$/g, ''));
  expect(where).toEqual(
    expect.arrayContaining([
      'the archive',
      join(report, 'resources/etcdrequests.yaml'),
      join(report, 'workflows/cluster'),
    ]),
  );
  const textOf = (part: string): string => readFileSync(join(report, part), 'utf8');
  expect(textOf(`logs/${at.name}-0.log`)).toContain('ETCD_HIDDEN=[left out]');
  expect(textOf('resources/etcdbackups.yaml')).toContain('name: broken');
});
