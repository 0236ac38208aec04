/**
 * A version v1 beside v1beta2, of the same schema and without conversion, on a real kube-apiserver with the real operator, which knows
 * v1beta2 alone: what is written through one version is read, watched and acted on through the other, and stored objects move to v1.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../../scripts/run.ts';
import { API_VERSION, GROUP } from '../../../src/api/names.ts';
import type { EtcdCluster } from '../../../src/api/schemas/types.ts';
import type { ClosableKubeClient } from '../../../src/kube/client.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { refusal } from '../../api/crd-server.ts';
import { SECOND_API_VERSION, withSecondVersion } from '../../api/second-version.ts';
import { type ControlPlane, startControlPlane } from '../../stack/control-plane.ts';
import { dial } from '../../stack/drill/connection.ts';
import { kubeClientOf } from '../../stack/kube-client.ts';
import { type OperatorProcess, startOperatorProcess } from '../../stack/operator-process.ts';
import { poll } from '../../stack/poll.ts';
import { rawText } from '../../stack/raw-api.ts';
import { startTemporal, type TemporalServer } from '../../stack/temporal-server.ts';

const run = promisify(execFile);
const VERSIONS = [API_VERSION, SECOND_API_VERSION] as const;
const CRD = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const;
const CLUSTERS = { ...CRD, name: `etcdclusters.${GROUP}` } as const;

let plane: ControlPlane;
let temporal: TemporalServer;
let client: ClosableKubeClient;
let operator: OperatorProcess;

const kubectl = async (...args: string[]): Promise<string> =>
  (await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args], { maxBuffer: 1 << 26 })).stdout;

const written = (apiVersion: string, name: string, spec: object): KubeObject => ({
  apiVersion,
  kind: 'EtcdCluster',
  metadata: { namespace: 'default', name },
  spec,
});

const pathOf = (apiVersion: string, name = ''): string =>
  `/apis/${apiVersion}/namespaces/default/etcdclusters${name && `/${name}`}`;

/** A call for EtcdClusters in one of the versions; the operator's own client knows v1beta2 alone. */
const call = async (path: string, request?: Parameters<typeof rawText>[2]): Promise<KubeObject> =>
  JSON.parse(await rawText(plane.kubeconfig, path, request)) as KubeObject;

const create = (object: KubeObject): Promise<KubeObject> =>
  call(pathOf(object.apiVersion), { method: 'POST', body: object });

const replace = (object: KubeObject): Promise<KubeObject> =>
  call(pathOf(object.apiVersion, object.metadata.name), { method: 'PUT', body: object });

const merge = (apiVersion: string, name: string, body: object): Promise<KubeObject> =>
  call(pathOf(apiVersion, name), { method: 'PATCH', contentType: 'application/merge-patch+json', body });

const read = (apiVersion: string, name: string): Promise<KubeObject> => call(pathOf(apiVersion, name));

const list = async (apiVersion: string): Promise<readonly KubeObject[]> =>
  (await call(pathOf(apiVersion)))['items'] as KubeObject[];

/** Applies the definitions, and waits until both versions are served. */
async function define(storage: 'v1beta2' | 'v1'): Promise<void> {
  for (const definition of withSecondVersion(storage)) await client.apply(definition);
  for (const apiVersion of VERSIONS) await poll(() => list(apiVersion));
}

async function storedVersions(): Promise<readonly string[]> {
  const { status } = (await client.get(CLUSTERS)) as unknown as { status: { storedVersions: string[] } };
  return status.storedVersions;
}

/** The version that an object has in etcd. */
async function versionInEtcd(name: string): Promise<string> {
  const commands = readFileSync(`/proc/${plane.pids().etcd}/cmdline`, 'utf8').split('\0');
  const url = commands.find(each => each.startsWith('--listen-client-urls='))?.split('=')[1] ?? '';
  const etcd = dial(new URL(url).host);
  try {
    const stored = await etcd.get(`/registry/${GROUP}/etcdclusters/default/${name}`).string();
    return (JSON.parse(stored ?? '{}') as { apiVersion: string }).apiVersion;
  } finally {
    etcd.close();
  }
}

beforeAll(async () => {
  [plane, temporal] = await Promise.all([startControlPlane(), startTemporal({ searchAttributes: {} })]);
  client = kubeClientOf(plane.kubeconfig);
  await define('v1beta2');
  await kubectl('create', 'namespace', 'etcd-operator');
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy/rbac'));
  const account = 'system:serviceaccount:etcd-operator:etcd-operator';
  operator = await startOperatorProcess({
    KUBECONFIG: await plane.kubeconfigFor(account),
    TEMPORAL_ADDRESS: temporal.address,
    POD_NAME: 'operator',
  });
});

afterAll(async () => {
  operator?.signal('SIGKILL');
  await operator?.ended;
  await client?.close();
  await Promise.all([plane?.stop(), temporal?.stop()]);
});

describe('two versions of one schema', () => {
  test.each([
    [API_VERSION, SECOND_API_VERSION],
    [SECOND_API_VERSION, API_VERSION],
  ])('what is written as %s is read as %s', async (one, other) => {
    const name = one === API_VERSION ? 'as-old' : 'as-new';
    const spec = { size: 3, paused: true, storage: { volumeClaimTemplate: { spec: {} } } };
    const { metadata } = await create(written(one, name, spec));
    const found = await read(other, name);
    expect(found).toMatchObject({ apiVersion: other, kind: 'EtcdCluster', spec });
    expect(found.metadata.uid).toBe(metadata.uid);
    await replace({ ...found, spec: { ...spec, size: 5 } });
    expect((await read(one, name))['spec']).toEqual({ ...spec, size: 5 });
  });

  test('have the same rules, also for what may change', async () => {
    for (const apiVersion of VERSIONS)
      expect(await refusal(create(written(apiVersion, 'x', { size: 9 })))).toContain('must be from 1 to 7');
    const switched = merge(SECOND_API_VERSION, 'as-old', { spec: { TLS: { auto: {} } } });
    expect(await refusal(switched)).toContain('TLS of a live cluster cannot be switched');
  });

  test('are one object for an applier: what the other version applied is its own', async () => {
    const apply = (apiVersion: string, spec: object) =>
      call(`${pathOf(apiVersion, 'applied')}?fieldManager=person`, {
        method: 'PATCH',
        contentType: 'application/apply-patch+yaml',
        body: written(apiVersion, 'applied', spec),
      });
    await apply(API_VERSION, { paused: true, size: 3, etcd: { snapshotCount: 20_000 } });
    const applied = await apply(SECOND_API_VERSION, { paused: true, size: 5 });
    expect(applied['spec']).toEqual({ paused: true, size: 5 });
  });

  test('are scaled and shown alike', async () => {
    await kubectl('scale', `etcdclusters.v1.${GROUP}/as-old`, '--replicas=3');
    expect((await read(API_VERSION, 'as-old'))['spec']).toMatchObject({ size: 3 });
    for (const version of ['v1', 'v1beta2'])
      expect(await kubectl('get', `etcdclusters.${version}.${GROUP}`)).toMatch(/^NAME +READY +SIZE +VERSION/);
  });
});

describe('the operator, which knows v1beta2 alone', () => {
  test('acts on what is written as v1, and what it writes is read as v1', async () => {
    await create(written(SECOND_API_VERSION, 'example', { size: 3, version: '3.6.16' }));
    await poll(async () => (await podsOf('example')).length === 3, {
      otherwise: async () => `${JSON.stringify(await read(API_VERSION, 'example'))} ${operator.output()}`,
    });
    const { metadata, status } = (await read(SECOND_API_VERSION, 'example')) as unknown as EtcdCluster;
    expect(status).toMatchObject({
      phase: 'Creating',
      observedGeneration: 1,
      incarnation: expect.anything(),
    });
    expect(metadata.finalizers).toHaveLength(1);
    for (const { metadata: of } of await podsOf('example'))
      expect(of.ownerReferences).toMatchObject([{ apiVersion: API_VERSION, uid: metadata.uid }]);
  });

  test('continues when objects are stored as v1, and each is moved by a write that changes nothing', async () => {
    expect(await storedVersions()).toEqual(['v1beta2']);
    expect(await versionInEtcd('example')).toBe(API_VERSION);
    await define('v1');
    expect(await storedVersions()).toEqual(['v1beta2', 'v1']);
    const items = await list(SECOND_API_VERSION);
    for (const { metadata } of items)
      await poll(async () => replace(await read(SECOND_API_VERSION, metadata.name)));
    for (const { metadata } of items)
      expect([metadata.name, await versionInEtcd(metadata.name)]).toEqual([
        metadata.name,
        SECOND_API_VERSION,
      ]);
    const moved = { status: { storedVersions: ['v1'] } };
    await client.patch(CLUSTERS, moved, { type: 'merge', subresource: 'status' });
    expect(await storedVersions()).toEqual(['v1']);
    const { metadata } = await merge(API_VERSION, 'example', { spec: { paused: true } });
    await poll(
      async () => {
        const { status } = (await read(API_VERSION, 'example')) as unknown as EtcdCluster;
        return status?.observedGeneration === metadata.generation;
      },
      { otherwise: async () => JSON.stringify(await read(API_VERSION, 'example')) },
    );
  });

  test('deletes what is deleted as v1', async () => {
    await create(written(SECOND_API_VERSION, 'short', { size: 1, version: '3.6.16' }));
    await poll(async () => (await podsOf('short')).length === 1);
    await call(pathOf(SECOND_API_VERSION, 'short'), { method: 'DELETE' });
    await poll(async () => (await refusal(read(API_VERSION, 'short'))).includes('not found'), {
      otherwise: async () => JSON.stringify(await read(API_VERSION, 'short')),
    });
  });
});

test('a CRD without v1 is refused while objects may be stored as v1, and accepted again after the way back', async () => {
  const single = () => kubectl('apply', '--server-side', '--force-conflicts', '-k', join(root, 'deploy/crd'));
  expect(await refusal(single())).toContain('status.storedVersions');
  await define('v1beta2');
  const items = await list(API_VERSION);
  for (const { metadata } of items) await poll(async () => replace(await read(API_VERSION, metadata.name)));
  for (const definition of withSecondVersion('v1beta2'))
    await client.patch(
      { ...CRD, name: definition.metadata.name },
      { status: { storedVersions: ['v1beta2'] } },
      { type: 'merge', subresource: 'status' },
    );
  expect(await refusal(single())).toBe('');
  expect(await versionInEtcd('example')).toBe(API_VERSION);
  expect((await read(API_VERSION, 'example'))['spec']).toMatchObject({ size: 3 });
});

async function podsOf(cluster: string): Promise<readonly KubeObject[]> {
  const labelSelector = `etcd_cluster=${cluster}`;
  return (await client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace: 'default', labelSelector }))
    .items;
}
