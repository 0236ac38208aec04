import { describe, expect, test } from 'vitest';
import {
  clientUrl,
  isReservedKey,
  memberHost,
  memberName,
  memberLabels,
  operationWorkflowId,
  peerUrl,
  selectorText,
  clusterSelector,
  serialOf,
  workflowId,
} from '../../src/api/names.ts';

const address = { member: 'example-0', cluster: 'example', namespace: 'prod' };

test.each([0, 1, 9, 10, 123456789])('the serial %i survives the name of its member', serial => {
  expect(serialOf(memberName('my-etcd-3', serial))).toBe(serial);
});

test.each([
  'example',
  'example-',
  'example-01',
  'example-x',
  'example-abcdefghij',
  'example-1.5',
  'example-1234567890',
])('%s is not the name of a member', name => {
  expect(serialOf(name)).toBeUndefined();
});

describe('the host of a member', () => {
  test.each([
    [undefined, 'example-0.example.prod.svc'],
    ['', 'example-0.example.prod.svc'],
    ['cluster.local', 'example-0.example.prod.svc.cluster.local'],
    ['.cluster.local', 'example-0.example.prod.svc.cluster.local'],
    ['.cluster.local.', 'example-0.example.prod.svc.cluster.local'],
  ])('with the cluster domain %j is %s', (domain, host) => {
    expect(memberHost({ ...address, domain })).toBe(host);
  });
});

test('URLs follow the host, the port and TLS', () => {
  expect(peerUrl(address)).toBe('http://example-0.example.prod.svc:2380');
  expect(clientUrl({ ...address, tls: true })).toBe('https://example-0.example.prod.svc:2379');
});

test('labels of a member are those that the CoreOS operator gave, and the recommended set', () => {
  expect(memberLabels('example', 'example-0')).toEqual({
    app: 'etcd',
    etcd_cluster: 'example',
    etcd_node: 'example-0',
    'app.kubernetes.io/name': 'etcd',
    'app.kubernetes.io/instance': 'example',
    'app.kubernetes.io/component': 'database',
    'app.kubernetes.io/managed-by': 'etcd-operator',
  });
  expect(selectorText(clusterSelector('example'))).toBe('app=etcd,etcd_cluster=example');
});

test('workflow ids can be typed by users, and differ between incarnations of a name', () => {
  const ref = {
    kind: 'EtcdCluster',
    namespace: 'prod',
    name: 'example',
    uid: '1b4e28ba-2fa1-11d2-883f-0016d3cca427',
  } as const;
  expect(workflowId(ref)).toBe('etcdcluster/prod/example/1b4e28ba');
  expect(operationWorkflowId(workflowId(ref))).toBe('etcdcluster/prod/example/1b4e28ba/operation');
});

test.each([
  ['app', true],
  ['etcd_node', true],
  ['etcd_mine', true],
  ['etcd.version', true],
  ['etcd.database.coreos.com/serial', true],
  ['application', false],
  ['etcd', false],
  ['app.kubernetes.io/name', false],
])('the key %s is reserved: %s', (key, reserved) => {
  expect(isReservedKey(key)).toBe(reserved);
});
