import { expect, test } from 'vitest';
import { ownName } from '../../../src/api/derived/endpoints.ts';

test.each([
  ['etcd', { service: 'etcd' }],
  ['ETCD', { service: 'etcd' }],
  ['etcd.shop', { service: 'etcd' }],
  ['etcd.shop.svc', { service: 'etcd' }],
  ['etcd.shop.svc.cluster.local', { service: 'etcd' }],
  ['etcd.shop.svc.cluster.local.', { service: 'etcd' }],
  ['svc', { service: 'svc' }],
  ['etcd-0.etcd.shop', { service: 'etcd', hostname: 'etcd-0' }],
  ['etcd-0.etcd.shop.svc', { service: 'etcd', hostname: 'etcd-0' }],
  ['etcd-0.etcd.shop.svc.cluster.local', { service: 'etcd', hostname: 'etcd-0' }],
])('%s is of the namespace', (host, own) => {
  expect(ownName(host, 'shop')).toEqual(own);
});

test.each([
  'etcd.other',
  'etcd.other.svc',
  'etcd.other.svc.shop',
  'etcd-0.etcd.other.svc',
  'shop.svc',
  'etcd.shop.example.org',
  'a.etcd-0.etcd.shop.svc',
  'etcd.shop.pod.cluster.local',
  'kubernetes.default.svc',
])('%s is not', host => {
  expect(ownName(host, 'shop')).toBeUndefined();
});
