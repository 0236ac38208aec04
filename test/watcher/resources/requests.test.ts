/** Which resource an EtcdRequest concerns, and when. */
import { describe, expect, it } from 'vitest';
import type { EtcdRequestStatus } from '../../../src/api/schemas/types.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { keyOf } from '../../../src/watcher/resources/owner-key.ts';
import { KnownRequests, slimRequest } from '../../../src/watcher/resources/requests.ts';

const CREATED = Date.parse('2026-11-21T10:00:00Z');
const CLUSTER = { kind: 'EtcdCluster', namespace: 'shop', name: 'example', uid: 'a cluster' } as const;

function request(uid: string, status?: EtcdRequestStatus, more: Record<string, unknown> = {}): KubeObject {
  return slimRequest({
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdRequest',
    metadata: { namespace: 'shop', name: uid, uid, creationTimestamp: '2026-11-21T10:00:00Z' },
    spec: { clusterRef: { name: 'example' }, action: 'Pause', by: 'ana', ...more },
    ...(status && { status }),
  });
}

const DONE: EtcdRequestStatus = { phase: 'Completed', completedAt: '2026-11-21T10:00:00Z' };

function known(exists = () => true): KnownRequests {
  return new KnownRequests(({ kind, name }) =>
    exists() && kind === 'EtcdCluster' && name === 'example' ? { ref: CLUSTER } : undefined,
  );
}

describe('an EtcdRequest', () => {
  it('that is open concerns its cluster whenever it changes, and when it is deleted', () => {
    const requests = known();
    const pending = request('a', { phase: 'Pending' });
    expect(requests.note({ type: 'added', object: request('a') })).toBe(keyOf(CLUSTER));
    expect(requests.note({ type: 'updated', object: pending, previous: request('a') })).toBe(keyOf(CLUSTER));
    expect(requests.due(CREATED + 3_600_000)).toEqual([]);
    expect(requests.note({ type: 'deleted', object: pending })).toBe(keyOf(CLUSTER));
  });

  it('that is finished concerns it when its time is over, and again until it is gone', () => {
    const requests = known();
    const object = request('a', DONE, { ttlSecondsAfterFinished: 60 });
    expect(requests.note({ type: 'added', object })).toBeUndefined();
    expect(requests.due(CREATED + 59_999)).toEqual([]);
    expect(requests.due(CREATED + 60_000)).toEqual([keyOf(CLUSTER)]);
    expect(requests.due(CREATED + 69_999)).toEqual([]);
    expect(requests.due(CREATED + 70_000)).toEqual([keyOf(CLUSTER)]);
    requests.note({ type: 'deleted', object });
    expect(requests.due(CREATED + 90_000)).toEqual([]);
  });

  it('whose cluster was seen later is made known to it then', () => {
    let exists = false;
    const requests = known(() => exists);
    expect(requests.note({ type: 'added', object: request('a') })).toBeUndefined();
    expect(requests.due(CREATED + 1_000)).toEqual([]);
    exists = true;
    expect(requests.due(CREATED + 2_000)).toEqual([keyOf(CLUSTER)]);
    expect(requests.due(CREATED + 90_000)).toEqual([]);
  });

  it('without a resource has a key of its own after ten seconds, so that a pass can refuse it', () => {
    const requests = known(() => false);
    requests.note({ type: 'added', object: request('a') });
    const key = keyOf({ ...CLUSTER, uid: 'a' });
    expect(requests.due(CREATED + 9_999)).toEqual([]);
    expect(requests.due(CREATED + 10_000)).toEqual([key]);
    expect([requests.isOrphan(key), requests.isOrphan(keyOf(CLUSTER))]).toEqual([true, false]);
  });

  it('is counted while it is open', () => {
    const requests = known();
    for (const object of [request('a'), request('b', { phase: 'Accepted' }), request('c', DONE)])
      requests.note({ type: 'added', object });
    expect(requests.figures()).toEqual({ waiting: 1, accepted: 1, oldestWaiting: CREATED });
  });
});
