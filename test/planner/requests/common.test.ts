import { expect, it } from 'vitest';
import type { EtcdRequest } from '../../../src/api/schemas/types.ts';
import { openRequests } from '../../../src/planner/requests/common.ts';

function request(name: string, creationTimestamp: string, phase?: 'Accepted' | 'Completed'): EtcdRequest {
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdRequest',
    metadata: { namespace: 'shop', name, uid: name, creationTimestamp },
    spec: { action: 'Restart', clusterRef: { name: 'example' }, by: 'ana' },
    ...(phase === 'Accepted' && { status: { phase } }),
    ...(phase === 'Completed' && { status: { phase, completedAt: creationTimestamp } }),
  };
}

const AT = '2026-11-21T10:00:00Z';
const LATER = '2026-11-21T10:00:01Z';
const names = (...requests: readonly EtcdRequest[]) =>
  openRequests(requests).map(({ metadata }) => metadata.name);

it('judges the oldest first, and none that has ended', () => {
  expect(names(request('a', LATER), request('ended', AT, 'Completed'), request('b', AT))).toEqual(['b', 'a']);
});

it('judges of one second what was accepted before what is new: an abort takes back what a pass has accepted', () => {
  expect(names(request('abort', AT), request('held', AT, 'Accepted'))).toEqual(['held', 'abort']);
  expect(names(request('abort', AT), request('held', LATER, 'Accepted'))).toEqual(['abort', 'held']);
  expect(names(request('b', AT), request('a', AT))).toEqual(['a', 'b']);
  expect(names(request('a', AT), request('b', AT))).toEqual(['a', 'b']);
});
