/** The pod that lends a claim runs the operator's image: with which Secrets it is pulled where the registry asks for credentials. */
import { describe, expect, it } from 'vitest';
import { openObject } from '../../../src/activities/backup/examined-object.ts';
import { storeOpener } from '../../../src/activities/backup/open-store.ts';
import type { StoreOwner } from '../../../src/activities/runtime/dependencies.ts';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import type { WritableObject } from '../../../src/kube/port.ts';
import { StoreMemory } from '../../../src/store/memory.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';
import { PassingTime } from '../../fakes/waiting.ts';
import { ActivityEnvironment } from '../../worlds/activity-environment.ts';
import { OperatorWorld } from '../../worlds/operator-world.ts';

const METADATA = { namespace: 'shop', name: 'nightly', uid: 'u-1' };
const FILE = { storageType: 'File', file: { claim: 'backups', path: 'etcd/orders' } } as const;
const pulling = (secret: string) => ({ imagePullSecrets: [{ name: secret }] });

const ORDERS = {
  apiVersion: API_VERSION,
  kind: 'EtcdCluster',
  metadata: { namespace: 'shop', name: 'orders' },
  spec: { size: 3, pod: { ...pulling('mirror'), nodeSelector: { disk: 'fast' } } },
};

/** What the first pod of the claim says of pulling and placing; it never runs, and so is gone in the end. */
async function podFor(
  owner: StoreOwner | EtcdRestore,
  ...clusters: readonly object[]
): Promise<object | undefined> {
  const kube = new FakeKube({});
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  kube.seed({ ...claim, metadata: { name: 'backups', namespace: 'shop' } } as WritableObject);
  for (const cluster of clusters) kube.seed(cluster as WritableObject);
  const time = new PassingTime();
  const { pause } = time;
  let seen: object | undefined;
  time.pause = async (ms, signal) => {
    await pause(ms, signal);
    seen ??= kube.all('Pod').map(pod => (pod as unknown as { readonly spec: object }).spec)[0];
  };
  const openStore = storeOpener({
    kube,
    now: () => Date.parse('2026-11-25T10:00:00Z'),
    image: async () => 'registry.example.org/mirror/etcd-operator:0.2.0',
    time,
    memory: new StoreMemory(),
    identityNamespaces: [],
    environment: {},
    storesAllowed: [],
    credentialHosts: [],
  });
  const { deps } = new OperatorWorld();
  const open = (): Promise<unknown> =>
    'apiVersion' in owner ? openObject({ ...deps, kube, openStore }, owner) : openStore(owner);
  await expect(new ActivityEnvironment().run(open)).rejects.toThrow('does not start');
  return seen;
}

/** Of what lies in the claim, into the cluster `copy`. */
function restore(spec: Partial<EtcdRestore['spec']> = {}): EtcdRestore {
  const { storageType: backupStorageType, file } = FILE;
  return {
    apiVersion: API_VERSION,
    kind: 'EtcdRestore',
    metadata: METADATA,
    spec: { etcdCluster: { name: 'copy' }, backupStorageType, file, ...spec },
  };
}

describe('the pod that lends a claim pulls with the Secrets of', () => {
  it('the cluster that is backed up, and may run on any node', async () => {
    const spec = await podFor(
      { kind: 'EtcdBackup', metadata: METADATA, spec: { ...FILE, clusterRef: { name: 'orders' } } },
      ORDERS,
    );
    expect(spec).toMatchObject(pulling('mirror'));
    expect(spec).not.toHaveProperty('nodeSelector');
  });

  it('the cluster whose Service is named, as manifests of the CoreOS operator do', async () => {
    const etcdEndpoints = ['http://orders-client:2379'];
    const owner = { kind: 'EtcdBackup', metadata: METADATA, spec: { ...FILE, etcdEndpoints } };
    expect(await podFor(owner, ORDERS)).toMatchObject(pulling('mirror'));
  });

  it('the cluster that is restored, not of the one that was backed up', async () => {
    const copy = {
      ...ORDERS,
      metadata: { namespace: 'shop', name: 'copy' },
      spec: { size: 1, pod: pulling('other') },
    };
    const backup = {
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      metadata: METADATA,
      spec: { ...FILE, clusterRef: { name: 'orders' } },
      status: { history: [{ location: 'file://backups/etcd/orders', verified: 'Checksum' }] },
    };
    const of = restore({ backupRef: { name: 'nightly' } });
    expect(await podFor(of, ORDERS, copy, backup)).toMatchObject(pulling('other'));
  });

  it('the template, before there is a cluster', async () => {
    const template = { size: 1, pod: pulling('mirror') };
    expect(await podFor(restore({ clusterTemplate: template }))).toMatchObject(pulling('mirror'));
  });

  it('none, when the cluster is gone: Kubernetes then takes those of the ServiceAccount', async () => {
    const owner = { kind: 'EtcdBackup', metadata: METADATA, spec: { ...FILE, clusterRef: { name: 'gone' } } };
    expect(await podFor(owner, ORDERS)).not.toHaveProperty('imagePullSecrets');
  });
});
