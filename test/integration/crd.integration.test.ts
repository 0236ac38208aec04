/** The generated CRDs on a real kube-apiserver: what is rejected and with which words, what is accepted, what may change. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { generateCrds } from '../../scripts/generate-crds.ts';
import { API_VERSION, type Kind } from '../../src/api/names.ts';
import type { EtcdCluster } from '../../src/api/types.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { type ClosableKubeClient, createKubeClient } from '../../src/kube/client.ts';
import { KubeConfigCredentials } from '../../src/kube/credentials.ts';
import { type KubeObject, silentLogger } from '../../src/kube/port.ts';
import { ACCEPTED_CLUSTERS } from '../api/accepted-clusters.ts';
import { GO_CLIENT_OBJECTS } from '../api/go-client-objects.ts';
import { PUBLISHED_SAMPLES } from '../api/published-samples.ts';
import { REJECTED_BACKUPS, REJECTED_RESTORES } from '../api/rejected-backups.ts';
import { REJECTED_CLUSTERS } from '../api/rejected-clusters.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';

const run = promisify(execFile);

let plane: ControlPlane;
let client: ClosableKubeClient;

beforeAll(async () => {
  plane = await startControlPlane();
  const credentials = new KubeConfigCredentials({ source: { file: plane.kubeconfig }, logger: silentLogger });
  client = createKubeClient({ credentials });
  for (const definition of definitions()) await client.create(definition);
  for (const definition of definitions()) {
    await vi.waitFor(async () => expect(await isEstablished(definition.metadata.name)).toBe(true), 30_000);
  }
}, 120_000);

afterAll(async () => {
  await client?.close();
  await plane?.stop();
});

function definitions(): KubeObject[] {
  return [...generateCrds()]
    .filter(([path]) => !path.endsWith('kustomization.yaml'))
    .map(([, content]) => parse(content) as KubeObject);
}

async function isEstablished(name: string): Promise<boolean> {
  const ref = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  const status = (await client.get(ref))?.['status'] as { conditions?: { type: string; status: string }[] };
  return (status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True');
}

function resource(kind: Kind, name: string, spec: unknown) {
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace: 'default' },
    ...(spec === undefined ? {} : { spec }),
  };
}

const ref = (kind: Kind, name: string) => ({ apiVersion: API_VERSION, kind, namespace: 'default', name });

/** The words of the API server when it refuses; undefined when it does not. */
async function refusal(write: Promise<unknown>): Promise<string | undefined> {
  return write.then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** Rows with their title first, which is where a test's name takes it from uncut. */
function titled<Row extends { readonly what: string }>(rows: readonly Row[]): [string, Row][] {
  return rows.map(row => [row.what, row]);
}

let serial = 0;
/** A cluster of its own for a test that stores one. */
async function createCluster(spec: unknown): Promise<KubeObject> {
  serial += 1;
  return await client.create(resource('EtcdCluster', `cluster-${serial}`, spec));
}

function changeSpec(cluster: KubeObject, spec: unknown): Promise<KubeObject> {
  return client.patch(ref('EtcdCluster', cluster.metadata.name), { spec }, { type: 'merge', dryRun: true });
}

function writeStatus(cluster: KubeObject, status: object): Promise<KubeObject> {
  const options = { type: 'merge', subresource: 'status' } as const;
  return client.patch(ref('EtcdCluster', cluster.metadata.name), { status }, options);
}

describe.each([
  ['EtcdCluster', REJECTED_CLUSTERS],
  ['EtcdBackup', REJECTED_BACKUPS],
  ['EtcdRestore', REJECTED_RESTORES],
] as const)('an %s is rejected', (kind, rows) => {
  test.each(titled(rows))('with %s', async (_what, { spec, says, name }) => {
    const said = await refusal(client.create(resource(kind, name ?? 'bad', spec), { dryRun: true }));
    expect(said).toBeDefined();
    for (const words of says) expect(said).toContain(words);
  });
});

test('at least sixty bad inputs are tried', () => {
  const rows = [...REJECTED_CLUSTERS, ...REJECTED_BACKUPS, ...REJECTED_RESTORES, ...ACCEPTED_CLUSTERS];
  expect(rows.length).toBeGreaterThanOrEqual(60);
});

describe('an EtcdCluster is accepted', () => {
  test.each(titled(ACCEPTED_CLUSTERS))(
    'with %s, and the operator says so',
    async (_what, { spec, shows }) => {
      const stored = await client.create(resource('EtcdCluster', 'odd', spec), { dryRun: true });
      const [type, status, reason, ...words] = shows;
      const found = validateCluster(stored as unknown as EtcdCluster).conditions.find(
        entry => entry.type === type,
      );
      expect(found).toMatchObject({ type, status, reason });
      for (const text of words) expect(found?.message).toContain(text);
    },
  );

  test('without spec, and every default is written into it', async () => {
    const stored = await client.create(resource('EtcdCluster', 'empty', undefined), { dryRun: true });
    expect(stored['spec']).toEqual({
      size: 3,
      version: '3.6.16',
      repository: 'gcr.io/etcd-development/etcd',
      paused: false,
      hibernated: false,
      profile: 'Default',
    });
  });

  test('with nulls, which count as absent', async () => {
    const spec = { size: null, version: null, pod: null, TLS: null, paused: null };
    const stored = await client.create(resource('EtcdCluster', 'nulls', spec), { dryRun: true });
    expect(stored['spec']).toMatchObject({ size: 3, version: '3.6.16', paused: false });
    expect(stored['spec']).not.toHaveProperty('pod');
  });

  test('with a name of 52 characters', async () => {
    const name = `a${'b'.repeat(51)}`;
    expect((await client.create(resource('EtcdCluster', name, {}), { dryRun: true })).metadata.name).toBe(
      name,
    );
  });

  test('with Kubernetes fields that this operator does not know, which come back unchanged', async () => {
    const pod = {
      affinity: { nodeAffinity: { somethingNew: [{ weight: 3 }] } },
      resources: { requests: { cpu: 1, memory: '1Gi' }, claims: [{ name: 'gpu' }] },
      tolerations: [{ key: 'a', operator: 'Exists', newField: { deep: true } }],
      securityContext: { runAsUser: 1000, sysctls: [{ name: 'net.core.somaxconn', value: '1024' }] },
      etcdEnv: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'x' } } }],
      persistentVolumeClaimSpec: {
        dataSource: { kind: 'VolumeSnapshot', name: 's' },
        resources: { requests: { storage: 10737418240 } },
      },
      topologySpreadConstraints: [{ maxSkew: 1, matchLabelKeys: ['x'] }],
    };
    const stored = await client.create(resource('EtcdCluster', 'raw', { pod }), { dryRun: true });
    expect(stored['spec']).toMatchObject({ pod });
  });
});

describe('what the CoreOS operator and its Go client wrote', () => {
  test.each(titled(GO_CLIENT_OBJECTS))('is accepted: %s', async (_what, { object }) => {
    const created = await client.create(object as KubeObject);
    const again = { ...object, metadata: created.metadata } as KubeObject;
    // The Go client updates the whole object, with the resourceVersion that it read and the status that it thinks of.
    expect((await client.replace(again)).metadata.uid).toBe(created.metadata.uid);
  });

  test.each(titled(PUBLISHED_SAMPLES))('is accepted: %s', async (_what, { yaml }) => {
    expect(
      await refusal(client.create(inDefault(parse(yaml) as KubeObject), { dryRun: true })),
    ).toBeUndefined();
  });
});

const claim = (storage: string, storageClassName?: string) => ({
  ...(storageClassName === undefined ? {} : { storageClassName }),
  resources: { requests: { storage } },
});
const inTemplate = (spec: object) => ({ storage: { volumeClaimTemplate: { spec } } });
const inPolicy = (spec: object) => ({ pod: { persistentVolumeClaimSpec: spec } });
const secrets = (peerSecret: string) => ({ TLS: { static: { member: { peerSecret } } } });

const SHRINK = 'a volume cannot be shrunk: write the old size or a larger one';
const CLASS = 'the StorageClass of a cluster cannot be changed: write the old one';
const MOVE = 'members cannot move between volumes and emptyDir: write the old form';
const TLS = 'TLS of a live cluster cannot be switched on, off or to another mode: write the old mode';

/** before, after as a merge patch, the words of the refusal or undefined. */
const CHANGES: readonly (readonly [string, object, object, string | undefined])[] = [
  ['shrinking the volume of a template', inTemplate(claim('8Gi')), inTemplate(claim('4Gi')), SHRINK],
  ['shrinking the volume of the pod policy', inPolicy(claim('8Gi')), inPolicy(claim('8191Mi')), SHRINK],
  ['asking for less than the default size', inTemplate({}), inTemplate(claim('4Gi')), SHRINK],
  [
    'shrinking while moving from one form to the other',
    inPolicy(claim('9Gi')),
    { pod: null, ...inTemplate(claim('8Gi')) },
    SHRINK,
  ],
  ['growing the volume', inTemplate(claim('8Gi')), inTemplate(claim('9Gi')), undefined],
  ['writing the same size in another unit', inTemplate(claim('8Gi')), inTemplate(claim('8192Mi')), undefined],
  [
    'moving from one form to the other',
    inPolicy(claim('8Gi')),
    { pod: null, ...inTemplate(claim('8Gi')) },
    undefined,
  ],
  ['changing the class', inTemplate(claim('8Gi', 'fast')), inTemplate(claim('8Gi', 'slow')), CLASS],
  ['naming a class later', inTemplate(claim('8Gi')), inTemplate(claim('8Gi', 'slow')), CLASS],
  [
    'changing the class while moving the form',
    inPolicy(claim('8Gi', 'fast')),
    { pod: null, ...inTemplate(claim('8Gi', 'slow')) },
    CLASS,
  ],
  [
    'moving from volumes to emptyDir',
    inTemplate(claim('8Gi')),
    { storage: { volumeClaimTemplate: null, emptyDir: {} } },
    MOVE,
  ],
  [
    'moving from emptyDir to volumes',
    { storage: { emptyDir: {} } },
    { storage: { emptyDir: null, ...inTemplate(claim('8Gi')).storage } },
    MOVE,
  ],
  ['switching TLS on', {}, { TLS: { auto: {} } }, TLS],
  ['switching TLS off', { TLS: { auto: {} } }, { TLS: null }, TLS],
  [
    'switching TLS to another mode',
    { TLS: { auto: {} } },
    { TLS: { auto: null, certManager: { issuerRef: { name: 'ca' } } } },
    TLS,
  ],
  [
    'securing clients too',
    secrets('p'),
    { TLS: { static: { member: { serverSecret: 's' }, operatorSecret: 'o' } } },
    TLS,
  ],
  ['naming another Secret of the same mode', secrets('p'), secrets('q'), undefined],
  ['writing an empty TLS block', {}, { TLS: {} }, undefined],
  ['changing size, version and pause', {}, { size: 5, version: '3.7.3', paused: true }, undefined],
];

describe('a stored EtcdCluster', () => {
  test.each(CHANGES)('%s', async (_what, before, after, refused) => {
    const cluster = await createCluster(before);
    const said = await refusal(changeSpec(cluster, after));
    if (refused === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(refused);
  });

  test('that the operator looked at and made nothing for may still change its TLS and storage', async () => {
    const cluster = await createCluster({ TLS: { auto: {} }, ...inTemplate(claim('8Gi')) });
    await writeStatus(cluster, { observedGeneration: 1, phase: 'Failed' });
    expect(await refusal(changeSpec(cluster, { TLS: null, ...inTemplate(claim('4Gi')) }))).toBeUndefined();
    await writeStatus(cluster, { incarnation: { token: 't', members: [] } });
    expect(await refusal(changeSpec(cluster, { TLS: null }))).toContain(TLS);
    expect(await refusal(changeSpec(cluster, inTemplate(claim('4Gi'))))).toContain(SHRINK);
  });

  test('keeps its status when a client updates the whole object', async () => {
    const cluster = await createCluster({});
    await writeStatus(cluster, { phase: 'Running', clusterID: 'cdf818194e3a8c32' });
    const read = await client.get(ref('EtcdCluster', cluster.metadata.name));
    await client.replace({ ...(read as KubeObject), status: { phase: '' } });
    const status = (await client.get(ref('EtcdCluster', cluster.metadata.name)))?.['status'];
    expect(status).toEqual({ phase: 'Running', clusterID: 'cdf818194e3a8c32' });
  });

  test('takes a phase that its CRD does not know, so that a newer operator can write status', async () => {
    const cluster = await createCluster({});
    expect((await writeStatus(cluster, { phase: 'Levitating' }))['status']).toEqual({ phase: 'Levitating' });
  });

  test('is scaled through the scale subresource, within bounds', async () => {
    const cluster = await createCluster({});
    await writeStatus(cluster, { size: 3, selector: 'app=etcd,etcd_cluster=x' });
    const path = `/apis/${API_VERSION}/namespaces/default/etcdclusters/${cluster.metadata.name}/scale`;
    const scale = JSON.parse((await client.raw('GET', path)).text) as { spec: object; status: object };
    expect(scale.spec).toEqual({ replicas: 3 });
    expect(scale.status).toEqual({ replicas: 3, selector: 'app=etcd,etcd_cluster=x' });
    const patch = (replicas: number) =>
      client.raw('PATCH', path, {
        body: { spec: { replicas } },
        contentType: 'application/merge-patch+json',
      });
    await patch(5);
    expect((await client.get(ref('EtcdCluster', cluster.metadata.name)))?.['spec']).toMatchObject({
      size: 5,
    });
    expect(await refusal(patch(9))).toContain('must be from 1 to 7');
  });

  test('refuses a field that does not exist when the client asks for strictness, as kubectl does', async () => {
    const path = `/apis/${API_VERSION}/namespaces/default/etcdclusters`;
    const body = resource('EtcdCluster', 'typo', { sise: 3 });
    const said = await refusal(
      client.raw('POST', path, { body, query: { fieldValidation: 'Strict', dryRun: 'All' } }),
    );
    expect(said).toContain('unknown field "spec.sise"');
  });
});

const SAMPLES = new URL('../../deploy/samples/', import.meta.url);

describe('the samples', () => {
  const files = readdirSync(SAMPLES).filter(file => file.endsWith('.yaml') && file !== 'kustomization.yaml');

  test.each(files)('%s is accepted, and nothing in it is ignored or invalid', async file => {
    const sample = parse(readFileSync(new URL(file, SAMPLES), 'utf8')) as KubeObject;
    const stored = await client.create(inDefault(sample), { dryRun: true });
    const { conditions, blocking } = validateCluster(stored as unknown as EtcdCluster);
    expect(blocking).toEqual([]);
    expect(conditions.find(entry => entry.type === 'FieldsIgnored')?.status).toBe('False');
    expect(conditions.find(entry => entry.type === 'StorageTight')?.status).toBe('False');
  });
});

function inDefault(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}

describe('kubectl get', () => {
  test('shows the columns, the leader only with -o wide', async () => {
    const cluster = await createCluster({ version: '3.6.16' });
    const operation = { type: 'CreateCluster' };
    const status = {
      ready: '2/3',
      phase: 'Creating',
      currentVersion: '3.6.16',
      leader: 'example-1',
      operation,
    };
    await writeStatus(cluster, status);
    const path = `/apis/${API_VERSION}/namespaces/default/etcdclusters/${cluster.metadata.name}`;
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const table = JSON.parse((await client.raw('GET', path, { accept })).text) as Table;
    const cells = table.columnDefinitions.map(({ name, priority }, index) => ({
      name,
      priority,
      cell: name === 'Age' ? 'some' : table.rows[0]?.cells[index],
    }));
    expect(cells).toEqual([
      { name: 'Name', priority: 0, cell: cluster.metadata.name },
      { name: 'Ready', priority: 0, cell: '2/3' },
      { name: 'Size', priority: 0, cell: 3 },
      { name: 'Version', priority: 0, cell: '3.6.16' },
      { name: 'Phase', priority: 0, cell: 'Creating' },
      { name: 'Operation', priority: 0, cell: 'CreateCluster' },
      { name: 'Leader', priority: 1, cell: 'example-1' },
      { name: 'Age', priority: 0, cell: 'some' },
    ]);
  });

  test('knows the short name etcd, and the three kinds as part of all', async () => {
    const discovery = JSON.parse((await client.raw('GET', `/apis/${API_VERSION}`)).text) as Discovery;
    const kinds = discovery.resources.filter(entry => !entry.name.includes('/'));
    expect(kinds.flatMap(entry => entry.shortNames ?? [])).toEqual(['etcd']);
    expect(kinds.map(entry => `${entry.name} ${entry.categories?.join()}`).toSorted()).toEqual([
      'etcdbackups all',
      'etcdclusters all',
      'etcdrestores all',
    ]);
  });
});

test('kubectl explain documents a field', async () => {
  const { stdout } = await run(plane.kubectl, [
    '--kubeconfig',
    plane.kubeconfig,
    'explain',
    'etcd.spec.size',
  ]);
  expect(stdout).toContain('Members that the cluster shall have, 1 to 7.');
});

type Table = {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
};

type Discovery = {
  readonly resources: readonly {
    readonly name: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
};
