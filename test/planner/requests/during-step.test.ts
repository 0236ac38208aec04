/** What becomes of the EtcdRequests of a cluster while a step of an operation is under way. */
import { expect, it } from 'vitest';
import type { EtcdRequest, EtcdRequestSpec, EtcdRequestStatus } from '../../../src/api/schemas/types.ts';
import { settleDuringStep } from '../../../src/planner/requests/during-step.ts';
import { aRunningCluster } from '../../worlds/builders.ts';

const WORKFLOW = 'etcdcluster/shop/example/0b7e6e34';
const observation = aRunningCluster();
const { now: NOW, cluster } = observation;
const at = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

function request(
  spec: Pick<EtcdRequestSpec, 'action'> & Partial<EtcdRequestSpec>,
  status?: EtcdRequestStatus,
): EtcdRequest {
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdRequest',
    metadata: { namespace: 'shop', name: 'one', uid: 'one', creationTimestamp: at(NOW - 5_000) },
    spec: { clusterRef: { name: 'example' }, by: 'ana', ...spec },
    ...(status && { status }),
  };
}

function settle(requests: readonly EtcdRequest[], subject?: string) {
  const target = {
    kind: 'EtcdCluster',
    namespace: 'shop',
    name: 'example',
    workflowId: WORKFLOW,
    createdAt: 0,
  } as const;
  const underWay = { operation: 'restoreCluster', ...(subject !== undefined && { subject }) } as const;
  const settled = settleDuringStep({ now: NOW, cluster, workflowState: {}, requests }, underWay, target);
  return { ...settled, states: settled.changes.map(({ outcome }) => outcome?.state) };
}

it('one that has expired ends, and the operation goes on', () => {
  const late = request({ action: 'Abort', expiresAfterSeconds: 1 });
  expect(settle([late])).toMatchObject({ states: ['expired'], ends: false, holds: undefined });
});

it('one that a pass accepted, and that no operation carries out, is left to the next pass', () => {
  const resync = request(
    { action: 'Resync' },
    { phase: 'Accepted', workflowID: WORKFLOW, ids: ['failure of scaleCluster 5'] },
  );
  expect(settle([resync])).toMatchObject({
    changes: [{ request: resync }],
    states: [undefined],
    ends: false,
  });
});

it('an abort is about the resource that the operation is for, if it is for one', () => {
  const { holds, ends } = settle([request({ action: 'Abort' })], 'uid-of-monday');
  expect({ abort: holds?.abort, ends }).toMatchObject({
    abort: { operation: 'restoreCluster', subject: 'uid-of-monday' },
    ends: true,
  });
  expect(settle([request({ action: 'Abort' })]).holds?.abort).not.toHaveProperty('subject');
});
