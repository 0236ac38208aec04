/** The generated CRDs on a real kube-apiserver: what is rejected and with which words, and what is accepted. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { validateCluster } from '../../src/api/validation/validate.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { ACCEPTED_CLUSTERS } from '../api/accepted-clusters.ts';
import { type CrdServer, refusal, resource, startCrdServer, titled } from '../api/crd-server.ts';
import { GO_CLIENT_OBJECTS } from '../api/go-client-objects.ts';
import { PUBLISHED_SAMPLES } from '../api/published-samples.ts';
import { REJECTED_BACKUPS, REJECTED_RESTORES } from '../api/rejected-backups.ts';
import { REJECTED_CLUSTERS } from '../api/rejected-clusters.ts';

let server: CrdServer;
let client: ClosableKubeClient;

beforeAll(async () => {
  server = await startCrdServer();
  client = server.client;
}, 120_000);

afterAll(async () => server?.stop());

describe.each([
  ['EtcdCluster', REJECTED_CLUSTERS],
  ['EtcdBackup', REJECTED_BACKUPS],
  ['EtcdRestore', REJECTED_RESTORES],
] as const)('an %s is rejected', (kind, rows) => {
  test.each(titled(rows))('with %s', async (_what, { spec, says, name }) => {
    const said = await refusal(client.create(resource(kind, name ?? 'bad', spec), { dryRun: true }));
    expect(said).not.toBe('');
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

  test('without spec, and nothing is written into it', async () => {
    const stored = await client.create(resource('EtcdCluster', 'empty', undefined), { dryRun: true });
    expect(stored['spec']).toEqual({});
  });

  test('with nulls, which count as absent', async () => {
    const spec = { size: null, version: null, pod: null, TLS: null, paused: null };
    const stored = await client.create(resource('EtcdCluster', 'nulls', spec), { dryRun: true });
    expect(stored['spec']).toEqual({});
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
    expect(await refusal(client.create(inDefault(parse(yaml) as KubeObject), { dryRun: true }))).toBe('');
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
