/** Which member is asked for a snapshot, and what endpoints mean. */
import { describe, expect, it } from 'vitest';
import { clusterOfService, dialledHost, parseEndpoint } from '../../../src/api/derived/endpoints.ts';
import {
  endpointsByPreference,
  type SourceCandidate,
  sourcesByPreference,
} from '../../../src/planner/backup/source.ts';

function candidate(memberId: string, given: Partial<SourceCandidate> = {}): SourceCandidate {
  return {
    memberId,
    leaderId: 'a1',
    isLearner: false,
    raftIndex: '100',
    raftAppliedIndex: '100',
    errors: [],
    revision: '7',
    ...given,
  };
}

const ids = (candidates: readonly SourceCandidate[]) => candidates.map(({ memberId }) => memberId);

describe('the member of choice', () => {
  it('is a follower that has applied everything, then one that is behind, then the leader', () => {
    const all = [candidate('a1'), candidate('a2', { raftAppliedIndex: '90' }), candidate('a3')];
    expect(ids(sourcesByPreference(all))).toEqual(['a3', 'a2', 'a1']);
  });

  it('is no learner, none without quorum, and none with corrupt data', () => {
    const all = [
      candidate('a2', { isLearner: true }),
      candidate('a3', { revision: undefined }),
      candidate('a4', { errors: ['memberID:4 alarm:CORRUPT '] }),
      candidate('a5', { errors: ['memberID:5 alarm:NOSPACE '] }),
    ];
    expect(ids(sourcesByPreference(all))).toEqual(['a5']);
  });

  it('is one of those that hold the same, while another one was found to differ, though every member lists CORRUPT', () => {
    const errors = ['memberID:4 alarm:CORRUPT '];
    const all = [candidate('a2', { errors, differs: true }), candidate('a3', { errors, differs: false })];
    expect(ids(sourcesByPreference(all))).toEqual(['a3']);
  });

  it('among endpoints is the one that knows most, whatever it is', () => {
    const all = [candidate('a2'), candidate('a1', { revision: '18446744073709551615' }), candidate('a3')];
    expect(ids(endpointsByPreference(all))).toEqual(['a1', 'a2', 'a3']);
  });
});

describe('an endpoint', () => {
  it.each([
    ['https://etcd-cluster-client:2379', { tls: true, host: 'etcd-cluster-client', port: 2379 }],
    ['http://10.0.0.1:4001/', { tls: false, host: '10.0.0.1', port: 4001 }],
    ['etcd.example.com', { tls: false, host: 'etcd.example.com', port: 2379 }],
    ['https://[fd00::1]:2379', { tls: true, host: 'fd00::1', port: 2379 }],
    ['unix:///var/run/etcd', undefined],
    ['https://user:secret@host:2379', undefined],
    ['', undefined],
  ])('%s', (text, expected) => {
    expect(parseEndpoint(text)).toEqual(expected);
  });

  it.each([
    ['example-client', 'example'],
    ['example-client.shop.svc.cluster.local', 'example'],
    ['example-client.other.svc', undefined],
    ['example', undefined],
    ['-client', undefined],
    ['example-client.shop.example.com', undefined],
  ])('%s is the client Service of %s', (host, cluster) => {
    expect(clusterOfService(host, 'shop')).toBe(cluster);
  });

  it('is looked up where its resource lives', () => {
    expect(['example-client', 'a.b', 'localhost', 'fd00::1'].map(host => dialledHost(host, 'shop'))).toEqual([
      'example-client.shop.svc',
      'a.b',
      'localhost',
      'fd00::1',
    ]);
  });
});
