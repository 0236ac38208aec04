/** The ids that etcd gives itself, as its documentation shows them. Real members are asked in test/integration/etcd.integration.test.ts. */
import { expect, it } from 'vitest';
import { initialClusterId, initialMemberId } from '../../src/etcd/cluster-id.ts';

it('is that of a single member which was started with nothing but defaults', () => {
  const urls = ['http://localhost:2380'];
  expect(initialMemberId('etcd-cluster', urls)).toBe('8e9e05c52164694d');
  expect(initialClusterId('etcd-cluster', [urls])).toBe('cdf818194e3a8c32');
});

// etcd's Procfile, which its guides are written with.
const PROCFILE = ['http://127.0.0.1:12380', 'http://127.0.0.1:22380', 'http://127.0.0.1:32380'];

it('is that of three members, in whatever order they are named', () => {
  const ids = PROCFILE.map(url => initialMemberId('etcd-cluster-1', [url]));
  expect(ids).toEqual(['8211f1d0f64f3269', '91bc3c398fb3c146', 'fd422379fda50e48']);
  const members = PROCFILE.map(url => [url]);
  expect(initialClusterId('etcd-cluster-1', members)).toBe('ef37ad9dc622a7c4');
  expect(initialClusterId('etcd-cluster-1', members.toReversed())).toBe('ef37ad9dc622a7c4');
});

it('is another one with another token or another URL', () => {
  const members = PROCFILE.map(url => [url]);
  expect(initialClusterId('etcd-cluster-2', members)).not.toBe('ef37ad9dc622a7c4');
  expect(initialClusterId('etcd-cluster-1', members.slice(1))).not.toBe('ef37ad9dc622a7c4');
});
