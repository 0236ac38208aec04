/** What an EtcdBackup may name as etcd: a tenant of namespace `shop` tries to have the operator connect elsewhere. */
import { beforeEach, describe, expect, test } from 'vitest';
import { addressesOf } from '../../../src/activities/backup/endpoint-addresses.ts';
import type { WritableObject } from '../../../src/kube/port.ts';
import { parseEndpoint } from '../../../src/api/derived/endpoints.ts';
import { AllowedAddresses } from '../../../src/store/addresses.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';

let kube: FakeKube;
beforeEach(() => {
  kube = new FakeKube();
  kube.seed(
    pod('shop', 'etcd-0', '10.0.0.1'),
    pod('shop', 'etcd-1', '10.0.0.2', { hostNetwork: true }),
    pod('other', 'etcd-0', '10.0.9.9'),
    service('shop', 'etcd', {}),
    service('shop', 'named', { clusterIP: '10.96.0.2', ports: [{ port: 80, targetPort: 'client' }] }),
    service('shop', 'headless', { clusterIP: 'None', ports: [] }),
    service('shop', 'by-hand', { selector: undefined }),
    service('shop', 'elsewhere', {
      type: 'ExternalName',
      externalName: 'etcd.other.svc',
      selector: undefined,
    }),
    service('shop', 'elsewhere-with-selector', { type: 'ExternalName', externalName: 'etcd.other.svc' }),
    service('shop', 'on-nodes', { selector: { app: 'on-node' } }),
    service('other', 'etcd', { clusterIP: '10.96.0.9' }),
    // Written by the tenant, and looked at by nobody here.
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'etcd-more', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'etcd' } },
      endpoints: [{ addresses: ['10.0.9.9'] }],
    } as WritableObject,
  );
});

function pod(namespace: string, name: string, podIP: string, { hostNetwork = false } = {}): WritableObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: hostNetwork ? 'on-node' : 'etcd' } },
    spec: {
      hostname: name,
      subdomain: 'headless',
      hostNetwork,
      containers: [{ name: 'etcd', ports: [{ name: 'client', containerPort: 12_379 }] }],
    },
    status: { phase: 'Running', podIP },
  } as WritableObject;
}

function service(namespace: string, name: string, spec: object): WritableObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { clusterIP: '10.96.0.1', selector: { app: 'etcd' }, ports: [{ port: 2379 }], ...spec },
  } as WritableObject;
}

/** The addresses that are dialled, or what is said instead. */
async function behind(text: string, entries: readonly string[] = []): Promise<string> {
  const endpoint = parseEndpoint(text);
  if (endpoint === undefined) return 'no endpoint';
  const found = await addressesOf({ kube, allowed: new AllowedAddresses(entries) }, endpoint, 'shop');
  if (found.kind === 'foreign') return 'foreign';
  if (found.kind === 'nothing') return found.why;
  const addresses = found.addresses.map(({ ip, port }) => `${ip}:${port}`).join(' ');
  return `${found.isOwn ? 'own' : 'outside'} ${addresses}`;
}

describe('what runs in the namespace', () => {
  test.each([
    ['a Service, at its pods', 'http://etcd:2379', 'own 10.0.0.1:2379'],
    ['by its long name', 'https://etcd.shop.svc.cluster.local:2379', 'own 10.0.0.1:2379'],
    ['a port with a name', 'http://named:80', 'own 10.0.0.1:12379'],
    ['a headless Service, at any port', 'http://headless:1234', 'own 10.0.0.1:1234'],
    ['a pod of a headless Service', 'http://etcd-0.headless.shop.svc:2379', 'own 10.0.0.1:2379'],
    ['the address of a pod', '10.0.0.1:4001', 'own 10.0.0.1:4001'],
    ['the address of a Service', '10.96.0.2:80', 'own 10.0.0.1:12379'],
  ])('is dialled: %s', async (_, text, expected) => {
    expect(await behind(text)).toBe(expected);
  });

  test.each([
    ['http://nothing:2379', 'Service nothing does not exist'],
    ['http://etcd:9999', 'Service etcd has no port 9999'],
    [
      'http://etcd-9.headless.shop.svc:2379',
      'Service headless has no running pod without hostNetwork as etcd-9',
    ],
  ])('may be missing: %s', async (text, why) => {
    expect(await behind(text)).toBe(why);
  });
});

describe('nothing else is dialled', () => {
  test.each([
    ['a Service of another namespace', 'http://etcd.other.svc:2379'],
    ['a pod of another namespace', '10.0.9.9:2379'],
    ['the address of a Service of another namespace', '10.96.0.9:2379'],
    ['an address of nobody', '10.0.7.7:2379'],
    ['this machine', 'http://localhost.localdomain:2379'],
    ['the loopback', '127.0.0.1:2379'],
    ['the loopback of IPv6', 'http://[::1]:2379'],
    ['the metadata service', 'http://169.254.169.254:80'],
    ['a host outside', 'https://etcd.example.org:2379'],
    ['a Service with endpoints by hand', 'http://by-hand:2379'],
    ['a Service that is a name', 'http://elsewhere:2379'],
    ['a Service that is a name, with a selector', 'http://elsewhere-with-selector:2379'],
    ['the address of a pod on the network of its node', '10.0.0.2:2379'],
  ])('%s', async (_, text) => {
    expect(await behind(text)).toBe('foreign');
  });

  test('pods on the network of their node', async () => {
    expect(await behind('http://on-nodes:2379')).toBe(
      'Service on-nodes has no running pod without hostNetwork',
    );
  });

  test('pods that are on their way out, or have no address of their own', async () => {
    const ref = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'etcd-0' };
    kube.mutate(ref, object => Object.assign(object, { status: { phase: 'Running', podIP: '127.0.0.1' } }));
    expect(await behind('http://etcd:2379')).toBe('Service etcd has no running pod without hostNetwork');
    kube.mutate(ref, object => Object.assign(object, { status: { phase: 'Succeeded', podIP: '10.0.0.1' } }));
    expect(await behind('http://etcd:2379')).toBe('Service etcd has no running pod without hostNetwork');
  });

  test('Kubernetes is not asked about what cannot be of the namespace', async () => {
    await behind('https://etcd.example.org:2379');
    expect(kube.calls).toEqual([]);
  });
});

describe('with an administrator’s word', () => {
  test.each([
    ['an address', '10.0.9.9:2379', ['10.0.9.0/24'], 'outside 10.0.9.9:2379'],
    ['a name that leads into a block', 'http://localhost:2379', ['127.0.0.0/8'], 'outside 127.0.0.1:2379'],
    [
      'a name alone does not open this machine',
      'http://localhost:2379',
      ['localhost'],
      'it is not reachable',
    ],
    ['another block', '10.0.9.9:2379', ['10.0.8.0/24'], 'foreign'],
    ['everything', '10.0.9.9:2379', ['*'], 'outside 10.0.9.9:2379'],
  ])('%s', async (_, text, entries, expected) => {
    expect((await behind(text, entries)).replace(' ::1:2379', '')).toBe(expected);
  });
});
