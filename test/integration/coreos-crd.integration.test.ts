/**
 * Where the CoreOS operator ran: its definitions and objects in a real kube-apiserver, and the CRDs of this operator applied over them as
 * docs/operations/migrate-from-coreos.md says.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { API_VERSION, type Kind } from '../../src/api/names.ts';
import { type ClosableKubeClient, createKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { type KubeObject, silentLogger, type WritableObject } from '../../src/kube/port.ts';
import { ref, resource, titled } from '../api/crd-server.ts';
import {
  COREOS_BACKUPS,
  COREOS_CLUSTERS,
  COREOS_OBJECTS,
  COREOS_RESTORES,
  coreosDefinition,
} from '../api/coreos-manifests.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { CHART, startHelm, TEMPORAL } from '../stack/helm.ts';
import { poll } from '../stack/poll.ts';

const run = promisify(execFile);
let plane: ControlPlane;
let client: ClosableKubeClient;

/** The two ways of the page to apply the CRDs. */
const APPLIED = {
  kubectl: () =>
    run(plane.kubectl, [
      `--kubeconfig=${plane.kubeconfig}`,
      ...['apply', '--server-side', '--force-conflicts', '-k', `${root}/deploy/crd`],
    ]),
  Helm: async () => {
    const helm = await startHelm(plane.kubeconfig);
    const install = ['install', 'etcd-operator', CHART, '-n', 'etcd-operator', '--create-namespace'];
    try {
      await helm.run(...install, '--take-ownership', ...TEMPORAL);
    } finally {
      await helm.close();
    }
  },
} as const;

/** No API server of today lets anyone create it, so it is written to where the API server reads it. */
async function storeDefinition(definition: object): Promise<void> {
  const { name } = (definition as { metadata: { name: string } }).metadata;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const key = `/registry/apiextensions.k8s.io/customresourcedefinitions/${name}`;
  const answer = await fetch(`${plane.etcdUrl}/v3/kv/put`, {
    method: 'POST',
    body: JSON.stringify({ key: base64(key), value: base64(JSON.stringify(definition)) }),
  });
  expect(answer.status).toBe(200);
}

/** The API server begins to serve a definition soon after it sees it. */
async function untilServed(object: WritableObject): Promise<void> {
  await poll(() => client.create(object), {
    timeoutMs: 60_000,
    otherwise: () => `${object.kind} is not served`,
  });
}

/** The one field of that operator that the schema does not have. */
function withoutUpdateTimes(status: object): object {
  return JSON.parse(JSON.stringify(status, (key, value) => (key === 'lastUpdateTime' ? undefined : value)));
}

const stored = async (kind: Kind, name: string): Promise<KubeObject> => {
  const found = await client.get(ref(kind, name));
  if (found === undefined) throw new Error(`${kind} ${name} is gone`);
  return found;
};

describe.each(Object.entries(APPLIED))('with the CRDs of this operator applied by %s,', (_, apply) => {
  beforeAll(async () => {
    plane = await startControlPlane();
    const credentials = new FileCredentials({ source: { file: plane.kubeconfig }, logger: silentLogger });
    client = createKubeClient({ credentials });
    await storeDefinition(coreosDefinition('EtcdCluster', ['etcd']));
    await storeDefinition(coreosDefinition('EtcdBackup'));
    await storeDefinition(coreosDefinition('EtcdRestore'));
    for (const object of COREOS_OBJECTS) await untilServed(object as unknown as WritableObject);
    await apply();
    await poll(async () => {
      const options = { type: 'merge', subresource: 'status', dryRun: true } as const;
      return await client.patch(ref('EtcdRestore', 'example'), { status: {} }, options).then(
        () => true,
        () => undefined,
      );
    });
  }, 180_000);

  afterAll(async () => {
    await client?.close();
    await plane?.stop();
  });

  describe('what the CoreOS operator left', () => {
    test.each(COREOS_OBJECTS.map(object => [object.kind, object] as const))(
      'is there as it was: an %s',
      async (kind, { metadata, spec, status }) => {
        const { name } = metadata;
        expect(await stored(kind, name)).toMatchObject({ spec, status: withoutUpdateTimes(status) });
      },
    );

    test.each(COREOS_OBJECTS.map(object => [object.kind, object.metadata.name] as const))(
      'can be changed, and its status be written: %s %s',
      async (kind, name) => {
        await client.patch(ref(kind, name), { metadata: { labels: { seen: 'yes' } } }, { type: 'merge' });
        const options = { type: 'merge', subresource: 'status' } as const;
        await client.patch(ref(kind, name), { status: { observedGeneration: 1 } }, options);
        expect((await stored(kind, name))['status']).toMatchObject({ observedGeneration: 1 });
      },
    );
  });

  describe('a manifest for the CoreOS operator is accepted as it is', () => {
    const rows = [
      ...COREOS_CLUSTERS.map(row => ({ kind: 'EtcdCluster' as const, ...row })),
      ...COREOS_BACKUPS.map(row => ({ kind: 'EtcdBackup' as const, ...row })),
      ...COREOS_RESTORES.map(row => ({ kind: 'EtcdRestore' as const, ...row })),
    ].map(row => ({ ...row, what: `${row.kind} with ${row.what}` }));

    test.each(titled(rows))('%s', async (_, { kind, spec }) => {
      const created = await client.create(resource(kind, 'new', spec), { dryRun: true });
      expect(created).toMatchObject({ apiVersion: API_VERSION, spec });
    });
  });

  it('fields that no one knows are taken off from now on, as a schema says', async () => {
    const created = await client.create(resource('EtcdCluster', 'new', { size: 1, selfHosted: {} }), {
      dryRun: true,
    });
    expect(created['spec']).toEqual({ size: 1 });
  });
});
