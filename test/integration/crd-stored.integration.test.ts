/** The generated CRDs on a real kube-apiserver: what may change in a stored object, its subresources, and how kubectl shows it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listSelected } from '../../src/activities/resource/selected.ts';
import { API_VERSION, BACKUP_CLUSTER_FIELD, type Kind, RESTORE_CLUSTER_FIELD } from '../../src/api/names.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { poll } from '../stack/poll.ts';
import { rawText } from '../stack/raw-api.ts';
import { type CrdServer, ref, refusal, resource, startCrdServer } from '../api/crd-server.ts';

const run = promisify(execFile);

let server: CrdServer;
let client: ClosableKubeClient;

beforeAll(async () => {
  server = await startCrdServer();
  client = server.client;
}, 120_000);

afterAll(async () => server?.stop());

let serial = 0;
/** A cluster of its own for a test that stores one. */
async function createCluster(spec: unknown): Promise<KubeObject> {
  serial += 1;
  return await client.create(resource('EtcdCluster', `cluster-${serial}`, spec));
}

const raw = (path: string, request?: Parameters<typeof rawText>[2]): Promise<string> =>
  rawText(server.plane.kubeconfig, path, request);

function changeSpec(cluster: KubeObject, spec: unknown): Promise<KubeObject> {
  return client.patch(ref('EtcdCluster', cluster.metadata.name), { spec }, { type: 'merge', dryRun: true });
}

function writeStatus(cluster: KubeObject, status: object): Promise<KubeObject> {
  const options = { type: 'merge', subresource: 'status' } as const;
  return client.patch(ref('EtcdCluster', cluster.metadata.name), { status }, options);
}

const claim = (storage: string, storageClassName?: string) => ({
  ...(storageClassName === undefined ? {} : { storageClassName }),
  resources: { requests: { storage } },
});
const inTemplate = (spec: object) => ({ storage: { volumeClaimTemplate: { spec } } });
const inPolicy = (spec: object) => ({ pod: { persistentVolumeClaimSpec: spec } });
const secrets = (peerSecret: string) => ({ TLS: { static: { member: { peerSecret } } } });

const MOVE = 'members cannot move between volumes and emptyDir: write the old form';
const TLS = 'TLS of a live cluster cannot be switched on, off or to another mode: write the old mode';

const DOMAIN = 'pod.ClusterDomain cannot be changed on a living cluster';
const domain = (ClusterDomain: string) => ({ pod: { ClusterDomain } });

/** before, after as a merge patch, the words of the refusal or none. */
const CHANGES: readonly (readonly [string, object, object, string])[] = [
  ['shrinking the volume of a template', inTemplate(claim('8Gi')), inTemplate(claim('4Gi')), ''],
  ['shrinking the volume of the pod policy', inPolicy(claim('8Gi')), inPolicy(claim('8191Mi')), ''],
  ['asking for less than the default size', inTemplate({}), inTemplate(claim('4Gi')), ''],
  [
    'shrinking while moving from one form to the other',
    inPolicy(claim('9Gi')),
    { pod: null, ...inTemplate(claim('8Gi')) },
    '',
  ],
  ['growing the volume', inTemplate(claim('8Gi')), inTemplate(claim('9Gi')), ''],
  ['writing the same size in another unit', inTemplate(claim('8Gi')), inTemplate(claim('8192Mi')), ''],
  [
    'moving from one form to the other',
    inPolicy(claim('8Gi')),
    { pod: null, ...inTemplate(claim('8Gi')) },
    '',
  ],
  ['changing the domain', domain('cluster.local'), domain('corp.internal'), DOMAIN],
  ['taking the domain away', domain('cluster.local'), { pod: null }, DOMAIN],
  ['naming a domain later', {}, domain('cluster.local'), DOMAIN],
  ['emptying a domain that was empty', domain(''), { pod: null }, ''],
  ['changing the class', inTemplate(claim('8Gi', 'fast')), inTemplate(claim('8Gi', 'slow')), ''],
  ['naming a class later', inTemplate(claim('8Gi')), inTemplate(claim('8Gi', 'slow')), ''],
  [
    'changing the class while moving the form',
    inPolicy(claim('8Gi', 'fast')),
    { pod: null, ...inTemplate(claim('8Gi', 'slow')) },
    '',
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
  ['naming another Secret of the same mode', secrets('p'), secrets('q'), ''],
  ['writing an empty TLS block', {}, { TLS: {} }, ''],
  ['changing size, version and pause', {}, { size: 5, version: '3.7.3', paused: true }, ''],
];

describe('a stored EtcdCluster', () => {
  test.each(CHANGES)('%s', async (_what, before, after, refused) => {
    const cluster = await createCluster(before);
    const said = await refusal(changeSpec(cluster, after));
    expect({ refused: said !== '', said }).toEqual({
      refused: refused !== '',
      said: expect.stringContaining(refused),
    });
  });

  test('that the operator looked at and made nothing for may still change its TLS and storage', async () => {
    const cluster = await createCluster({ TLS: { auto: {} }, ...inTemplate(claim('8Gi')) });
    await writeStatus(cluster, { observedGeneration: 1, phase: 'Failed' });
    expect(await refusal(changeSpec(cluster, { TLS: null, ...inTemplate(claim('4Gi')) }))).toBe('');
    await writeStatus(cluster, { incarnation: { token: 't', members: [] } });
    expect(await refusal(changeSpec(cluster, { TLS: null }))).toContain(TLS);
  });

  test('that has not formed may change its storage: what never started is made again', async () => {
    const cluster = await createCluster(inTemplate(claim('8Gi', 'standrad')));
    const incarnation = { token: 't', members: [] };
    await writeStatus(cluster, { observedGeneration: 1, phase: 'Creating', incarnation });
    expect(await refusal(changeSpec(cluster, inTemplate(claim('4Gi', 'standard'))))).toBe('');
    expect(await refusal(changeSpec(cluster, { storage: { volumeClaimTemplate: null, emptyDir: {} } }))).toBe(
      '',
    );
    expect(
      await refusal(
        changeSpec(cluster, { storage: { emptyDir: null, ...inTemplate(claim('4Gi')).storage } }),
      ),
    ).toBe('');
    await writeStatus(cluster, { incarnation: { ...incarnation, rebuilt: true } });
    const inPods = { storage: { volumeClaimTemplate: null, emptyDir: {} } };
    expect(await refusal(changeSpec(cluster, inPods))).toContain(MOVE);
    await writeStatus(cluster, { incarnation: { rebuilt: null }, clusterID: 'cdf818194e3a8c32' });
    expect(await refusal(changeSpec(cluster, inPods))).toContain(MOVE);
    // Members are replaced for it.
    expect(await refusal(changeSpec(cluster, inTemplate(claim('2Gi', 'slow'))))).toBe('');
  });

  test('keeps its status when a client updates the whole object', async () => {
    const cluster = await createCluster({});
    await writeStatus(cluster, { phase: 'Running', clusterID: 'cdf818194e3a8c32' });
    const read = await client.get(ref('EtcdCluster', cluster.metadata.name));
    await client.replace({ ...(read as KubeObject), status: { phase: '' } });
    const status = (await client.get(ref('EtcdCluster', cluster.metadata.name)))?.['status'];
    expect(status).toMatchObject({ phase: 'Running', clusterID: 'cdf818194e3a8c32' });
  });

  test('takes a phase that its CRD does not know, so that a newer operator can write status', async () => {
    const cluster = await createCluster({});
    expect((await writeStatus(cluster, { phase: 'Levitating' }))['status']).toMatchObject({
      phase: 'Levitating',
    });
  });

  test('is scaled through the scale subresource, within bounds', async () => {
    const cluster = await createCluster({ size: 3 });
    await writeStatus(cluster, { size: 3, selector: 'app=etcd,etcd_cluster=x' });
    const path = `/apis/${API_VERSION}/namespaces/default/etcdclusters/${cluster.metadata.name}/scale`;
    const scale = JSON.parse(await raw(path)) as { spec: object; status: object };
    expect(scale.spec).toEqual({ replicas: 3 });
    expect(scale.status).toEqual({ replicas: 3, selector: 'app=etcd,etcd_cluster=x' });
    const patch = (replicas: number) =>
      raw(path, {
        method: 'PATCH',
        body: { spec: { replicas } },
        contentType: 'application/merge-patch+json',
      });
    await patch(5);
    expect((await client.get(ref('EtcdCluster', cluster.metadata.name)))?.['spec']).toMatchObject({
      size: 5,
    });
    expect(await refusal(patch(9))).toContain('must be from 1 to 7');
  });

  test('that does not say its size is scaled by kubectl, and has no scale to read', async () => {
    const cluster = await createCluster({});
    const { name } = cluster.metadata;
    const path = `/apis/${API_VERSION}/namespaces/default/etcdclusters/${name}/scale`;
    expect(await refusal(raw(path))).not.toBe('');
    const { plane } = server;
    await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, 'scale', `etcd/${name}`, '--replicas=5']);
    expect((await client.get(ref('EtcdCluster', name)))?.['spec']).toEqual({ size: 5 });
  });

  test('is stored as it is written: nothing is filled in at admission', async () => {
    const spec = { size: 1, storage: { volumeClaimTemplate: { spec: {} } }, service: { labels: { a: 'b' } } };
    const cluster = await createCluster(spec);
    const { name } = cluster.metadata;
    expect(cluster['spec']).toEqual(spec);
    const settings = { size: 5, version: '3.5.35', etcd: { quotaBackendBytes: '4Gi' }, hibernated: false };
    const written = await writeStatus(cluster, { settings });
    expect(written['status']).toMatchObject({ settings });
    expect((await client.replace({ ...written, spec: {} }))['spec']).toEqual({});
    expect((await client.get(ref('EtcdCluster', name)))?.['status']).toMatchObject({ settings });
  });

  test('refuses a field that does not exist when the client asks for strictness, as kubectl does', async () => {
    const path = `/apis/${API_VERSION}/namespaces/default/etcdclusters?fieldValidation=Strict&dryRun=All`;
    const body = resource('EtcdCluster', 'typo', { sise: 3 });
    const said = await refusal(raw(path, { method: 'POST', body }));
    expect(said).toContain('unknown field "spec.sise"');
  });
});

describe('kubectl get', () => {
  test('shows the columns, the leader only with -o wide', async () => {
    const cluster = await createCluster({ version: '3.6.16' });
    const operation = { type: 'CreateCluster' };
    const status = {
      ready: '2/3',
      phase: 'Creating',
      currentVersion: '3.6.16',
      leader: 'example-1',
      settings: { size: 3 },
      operation,
      attention: 'NoBackup',
    };
    await writeStatus(cluster, status);
    const path = `/apis/${API_VERSION}/namespaces/default/etcdclusters/${cluster.metadata.name}`;
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const table = JSON.parse(await raw(path, { accept })) as Table;
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
      { name: 'Attention', priority: 0, cell: 'NoBackup' },
      { name: 'Leader', priority: 1, cell: 'example-1' },
      { name: 'Age', priority: 0, cell: 'some' },
    ]);
  });

  test('knows the short name etcd, and each kind as part of all', async () => {
    const discovery = JSON.parse(await raw(`/apis/${API_VERSION}`)) as Discovery;
    const kinds = discovery.resources.filter(entry => !entry.name.includes('/'));
    expect(kinds.flatMap(entry => entry.shortNames ?? [])).toEqual(['etcd']);
    expect(kinds.map(entry => `${entry.name} ${entry.categories?.join()}`).toSorted()).toEqual([
      'etcdbackups all',
      'etcdclusters all',
      'etcdrequests all',
      'etcdrestores all',
    ]);
  });
});

test('kubectl explain documents a field', async () => {
  // Short names are found by discovery, which learns of a kind a moment after it can be written.
  const { stdout } = await poll(() =>
    run(server.plane.kubectl, ['--kubeconfig', server.plane.kubeconfig, 'explain', 'etcd.spec.size']),
  );
  expect(stdout).toContain('The number of members, 1 to 7.');
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

test('a pass reads the EtcdBackups and EtcdRestores of its cluster and no others', async () => {
  const store = { storageType: 'GCS', gcs: { path: 'bucket/etcd' } };
  const backups = {
    'of-a': { clusterRef: { name: 'a' } },
    'of-b': { clusterRef: { name: 'b' } },
    'of-any': { etcdEndpoints: ['https://a-client:2379'] },
  };
  for (const [name, spec] of Object.entries(backups))
    await client.create(resource('EtcdBackup', name, { ...spec, ...store }));
  for (const name of ['a', 'b'])
    await client.create(
      resource('EtcdRestore', `into-${name}`, { etcdCluster: { name }, backupRef: { name: 'of-a' } }),
    );
  const selected = async (kind: Kind, field: string, values: readonly string[]): Promise<string[]> => {
    const found = await listSelected(client, kind, { namespace: 'default', field, values });
    return found.map(({ metadata }) => metadata.name);
  };
  expect(await selected('EtcdBackup', BACKUP_CLUSTER_FIELD, ['a', ''])).toEqual(['of-a', 'of-any']);
  expect(await selected('EtcdRestore', RESTORE_CLUSTER_FIELD, ['b'])).toEqual(['into-b']);
  // An API server that selects by no such field says so, and everything is read.
  expect(await selected('EtcdRestore', 'spec.of.an.earlier.release', ['b'])).toEqual(['into-a', 'into-b']);
});
