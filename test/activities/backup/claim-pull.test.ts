/** The pod that lends a claim runs the operator's image: with which Secrets it is pulled where the registry asks for credentials. */
import { describe, expect, it } from 'vitest';
import { storeOpener } from '../../../src/activities/backup/open-store.ts';
import type { StoreOwner } from '../../../src/activities/runtime/dependencies.ts';
import type { WritableObject } from '../../../src/kube/port.ts';
import { StoreMemory } from '../../../src/store/memory.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';
import { PassingTime } from '../../fakes/waiting.ts';
import { ActivityEnvironment } from '../../worlds/activity-environment.ts';

const METADATA = { namespace: 'shop', name: 'nightly', uid: 'u-1' };
const FILE = { storageType: 'File', file: { claim: 'backups', path: 'etcd/orders' } } as const;
const pulling = (secret: string) => ({ imagePullSecrets: [{ name: secret }] });

const ORDERS = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { namespace: 'shop', name: 'orders' },
  spec: { size: 3, pod: { ...pulling('mirror'), nodeSelector: { disk: 'fast' } } },
};

/** What the first pod of the claim says of pulling and placing; it never runs, and so is gone in the end. */
async function podFor(owner: StoreOwner, ...clusters: readonly object[]): Promise<object | undefined> {
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
  const open = storeOpener({
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
  await expect(new ActivityEnvironment().run(() => open(owner))).rejects.toThrow('does not start');
  return seen;
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
    const owner: StoreOwner = {
      kind: 'EtcdRestore',
      metadata: METADATA,
      spec: { ...FILE, clusterRef: { name: 'orders' } },
      restored: { etcdCluster: { name: 'copy' } },
    };
    const copy = {
      ...ORDERS,
      metadata: { namespace: 'shop', name: 'copy' },
      spec: { size: 1, pod: pulling('other') },
    };
    expect(await podFor(owner, ORDERS, copy)).toMatchObject(pulling('other'));
  });

  it('the template, before there is a cluster', async () => {
    const owner: StoreOwner = {
      kind: 'EtcdRestore',
      metadata: METADATA,
      spec: FILE,
      restored: { etcdCluster: { name: 'copy' }, clusterTemplate: { size: 1, pod: pulling('mirror') } },
    };
    expect(await podFor(owner)).toMatchObject(pulling('mirror'));
  });

  it('nobody, when the cluster is gone: Kubernetes then takes those of the ServiceAccount', async () => {
    const owner = { kind: 'EtcdBackup', metadata: METADATA, spec: { ...FILE, clusterRef: { name: 'gone' } } };
    expect(await podFor(owner, ORDERS)).not.toHaveProperty('imagePullSecrets');
  });
});
