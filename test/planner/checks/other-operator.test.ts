/** Which EtcdClusters count as those of another operator, and what is decided about them. */
import { describe, expect, it } from 'vitest';
import { madeByOtherOperator } from '../../../src/planner/checks/other-operator.ts';
import { whyNotAccepted } from '../../../src/planner/checks/restore-acceptance.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import type { RestoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import { plan } from '../../../src/planner/plan.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  anObservation,
  aPod,
  aRunningCluster,
  FOREIGN,
  NOW,
  OURS,
} from '../../worlds/builders.ts';

const COREOS_POD = aPod({ name: 'example-9hzfk4lcxt', token: undefined, clusterId: undefined });
const COREOS_ID = 'badc0de';
/** A quorum of its members answers. */
const ANSWERING: Observation['membership'] = {
  known: true,
  clusterId: COREOS_ID,
  members: [
    {
      id: 'a1',
      name: 'example-9hzfk4lcxt',
      isLearner: false,
      peerUrls: ['http://example-9hzfk4lcxt.example.shop.svc:2380'],
      started: true,
    },
  ],
};
const RESTORE: RestoreOfCluster = {
  name: 'restore',
  uid: 'restore-uid',
  createdAt: NOW,
  source: { location: 's3://backups/1', size: 10, sha256: '', snapshotSize: 10, compression: 'none' },
  confirmClusterId: COREOS_ID,
  revisionBump: 0,
};

describe('of another operator is', () => {
  it.each([
    ['one with its pods', anObservation({ pods: [COREOS_POD] })],
    ['one whose pods answer', anObservation({ pods: [COREOS_POD], membership: ANSWERING })],
    [
      'one with a version and nothing else',
      anObservation({ cluster: aCluster({ status: { currentVersion: '3.2.13' } }) }),
    ],
    ['one with a client Service and nothing else', anObservation({ clientService: OURS })],
    [
      'one that is paused',
      anObservation({ cluster: aCluster({ spec: { paused: true } }), pods: [COREOS_POD] }),
    ],
    [
      'one of an etcd that is not supported',
      anObservation({ cluster: aCluster({ spec: { version: '3.2.13' } }), pods: [COREOS_POD] }),
    ],
  ])('%s', (_, observation) => {
    expect(plan(observation, {})).toMatchObject({ kind: 'blocked', reason: 'OtherOperator', plan: [] });
    // Not even by a user who names the cluster that would go.
    expect(whyNotAccepted(situationOf(observation), RESTORE)).toMatchObject({
      kind: 'refused',
      reason: 'OtherOperator',
    });
  });
});

describe('of another operator is not', () => {
  it.each([
    ['a new one', anObservation()],
    ['a new one under the name of a Service of somebody else', anObservation({ clientService: FOREIGN })],
    ['one that lives', aRunningCluster()],
    [
      'one that lives beside a pod of a stranger',
      { ...aRunningCluster(), pods: [...aRunningCluster().pods, COREOS_POD] },
    ],
    [
      'one whose status was lost and whose claims are there',
      anObservation({ claims: [aClaim()], clientService: OURS }),
    ],
    ['one whose own pod has lost its annotations', anObservation({ pods: [aPod({ token: undefined })] })],
    [
      'one beside a pod that only carries its labels',
      anObservation({ pods: [{ ...COREOS_POD, owned: false }] }),
    ],
  ])('%s', (_, observation) => {
    expect(madeByOtherOperator(observation)).toBeUndefined();
  });
});

it('a restore waits where a pod of the cluster has lost what says which member it is', () => {
  const observation = anObservation({ pods: [aPod({ token: undefined, clusterId: undefined })] });
  expect(whyNotAccepted(situationOf(observation), { ...RESTORE, confirmClusterId: '' })).toMatchObject({
    kind: 'waits',
    reason: 'IdentityUnknown',
  });
});
